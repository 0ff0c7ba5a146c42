// Who catches what: the function that the unwinder asks about each frame of Objective-C or Objective-C++. Where none of
// the handlers is for a class the table is one of C++'s, and C++'s own function answers.
//
// The compiler's handlers differ in what they want: `@catch` of a class or of id has the object itself and says nothing
// when it is done; those of C++, @finally and `@catch (...)` have the exception, which the last two hand to
// objc_exception_throw to go on with.
#include <optional>
#include <string_view>

#include "metal/objc/cxx_exceptions.h"
#include "metal/objc/exception_tables.h"
#include "metal/objc/runtime.h"

namespace metalloid::objective_c {
namespace {

struct Thrown {
  CxxException* exception = nullptr;
  const std::type_info* type = nullptr;
  void* object = nullptr;  // what handlers of C++ get
  bool is_objective_c = false;
};

// Exceptions of other languages, and a thread that is being cancelled, are caught by what catches everything alone.
Thrown thrown_by(_Unwind_Exception* exception, bool is_forced) {
  CxxException* own = is_forced ? nullptr : cxx_exception_of(exception);
  if (!own) return {};
  Thrown thrown{own, thrown_type(own), thrown_object(own), false};
  thrown.is_objective_c = *thrown.type == typeid(objc_object*);
  if (thrown.type->__is_pointer_p()) thrown.object = *static_cast<void**>(thrown.object);
  return thrown;
}

bool is_of_class(void* object, const char* name) {
  if (std::string_view(name) == "@id") return true;
  const Class* wanted = class_named(name);
  return object && wanted && is_kind(class_of(object), wanted);
}

bool catches(const void* type, Thrown& thrown) {
  if (!type) return true;
  if (const char* name = class_name_in_table(type)) return thrown.is_objective_c && is_of_class(thrown.object, name);
  return thrown.type && static_cast<const std::type_info*>(type)->__do_catch(thrown.type, &thrown.object, 1);
}

bool names_classes(const CallSite& site) {
  return site.any_action([](const Action& one) { return one.filter > 0 && one.type && class_name_in_table(one.type); });
}

// What a landing pad is entered for; with filter 0 for its cleanup.
struct Handler {
  std::intptr_t filter;
  bool wants_object;
};

std::optional<Handler> handler_of(const CallSite& site, Thrown& thrown) {
  std::optional<Handler> found;
  bool cleans = !site.action();
  site.any_action([&](const Action& action) {
    if (action.filter == 0) {
      cleans = true;
    } else if (action.filter > 0 && catches(action.type, thrown)) {
      found = {action.filter, action.type && class_name_in_table(action.type)};
    } else if (action.filter < 0 && thrown.exception) {
      Thrown copy = thrown;
      const bool allowed = site.any_allowed(action.filter, [&](const void* type) { return catches(type, copy); });
      if (!allowed) found = {action.filter, false};
    }
    return found.has_value();
  });
  if (!found && cleans) found = {0, false};
  return found;
}

// For a handler that says nothing when it is done: the exception ends here, and the pool has the object.
void* take_object(CxxException& exception, void* object) {
  __cxa_begin_catch(&exception.unwind);
  autorelease(objc_retain(object));
  __cxa_end_catch();
  return object;
}

// For C++'s functions that begin a handler.
void note(CxxException& exception, const CallSite& site, const Handler& handler, void* object) {
  exception.handler_switch_value = static_cast<int>(handler.filter);
  exception.action = site.action();
  exception.language_data = site.table();
  exception.catch_temporary = handler.filter < 0 ? site.types() : site.landing_pad();
  exception.adjusted = object;
}

_Unwind_Reason_Code answer(const CallSite& site, _Unwind_Action actions, _Unwind_Exception* exception,
                           _Unwind_Context* context) {
  if (site.landing_pad() == 0) return _URC_CONTINUE_UNWIND;
  Thrown thrown = thrown_by(exception, actions & _UA_FORCE_UNWIND);
  const std::optional<Handler> handler = handler_of(site, thrown);
  if (!handler) return _URC_CONTINUE_UNWIND;
  if (actions & _UA_SEARCH_PHASE) return handler->filter != 0 ? _URC_HANDLER_FOUND : _URC_CONTINUE_UNWIND;

  void* value = exception;
  if (handler->filter != 0 && thrown.exception) {
    note(*thrown.exception, site, *handler, thrown.object);
    if (handler->wants_object) value = take_object(*thrown.exception, thrown.object);
  }
  _Unwind_SetGR(context, __builtin_eh_return_data_regno(0), reinterpret_cast<_Unwind_Word>(value));
  _Unwind_SetGR(context, __builtin_eh_return_data_regno(1), static_cast<_Unwind_Word>(handler->filter));
  _Unwind_SetIP(context, site.landing_pad());
  return _URC_INSTALL_CONTEXT;
}

}  // namespace
}  // namespace metalloid::objective_c

extern "C" _Unwind_Reason_Code __gnu_objc_personality_v0(int version, _Unwind_Action actions,
                                                         _Unwind_Exception_Class language, _Unwind_Exception* exception,
                                                         _Unwind_Context* context) {
  using namespace metalloid::objective_c;
  const CallSite site(context);
  if (version == 1 && names_classes(site)) return answer(site, actions, exception, context);
  return __gxx_personality_v0(version, actions, language, exception, context);
}
