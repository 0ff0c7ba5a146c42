// The checker's session (metalloid/_checking.py).
#include "metalloid/check.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"

namespace nb = nanobind;
using namespace metalloid;

namespace {

void set(CheckOptions& options, const std::vector<std::string>& names, bool wanted) {
  for (const std::string& name : names) {
    for (const CheckClass kind : check_classes_named(name)) {
      options.classes.set(static_cast<std::size_t>(kind), wanted);
    }
  }
}

// Ends when it is closed: Python's collector may come late.
class Session {
 public:
  Session(const std::vector<std::string>& only, const std::vector<std::string>& also,
          const std::vector<std::string>& skip, bool strict, std::uint64_t schedule, std::size_t most_findings,
          std::vector<std::string> suppressions) {
    CheckOptions options;
    if (!only.empty()) options.classes.reset();
    set(options, only, true);
    set(options, also, true);
    set(options, skip, false);
    options.strict = strict;
    options.schedule = schedule;
    options.most_findings = most_findings;
    options.suppressions = std::move(suppressions);
    session_ = std::make_unique<CheckSession>(std::move(options));
  }

  void close() {
    if (!session_) return;
    findings_ = session_->findings();
    lost_ = session_->lost();
    suppressed_ = session_->suppressed();
    dispatches_ = session_->dispatches();
    session_.reset();
  }
  std::vector<Finding> findings() const { return session_ ? session_->findings() : findings_; }
  std::string json() const { return json_of(findings()); }
  std::string sarif() const { return sarif_of(findings()); }
  std::vector<std::string> texts(bool colour) const {
    std::vector<std::string> texts;
    for (const Finding& finding : findings()) texts.push_back(text_of(finding, colour));
    return texts;
  }
  bool counts() const { return metalloid::counts(findings()); }
  std::uint64_t lost() const { return session_ ? session_->lost() : lost_; }
  std::uint64_t suppressed() const { return session_ ? session_->suppressed() : suppressed_; }
  std::uint64_t dispatches() const { return session_ ? session_->dispatches() : dispatches_; }

 private:
  std::unique_ptr<CheckSession> session_;
  std::vector<Finding> findings_;
  std::uint64_t lost_ = 0, suppressed_ = 0, dispatches_ = 0;
};

// Python has no way to change the status of a process that is ending.
int last_status = 0;
void end_with(int status) {
  if (std::exchange(last_status, status) == 0) {
    std::atexit([] {
      std::fflush(nullptr);
      ::_exit(last_status);
    });
  }
}

// Sources may be in any encoding.
nb::object text(const std::string& bytes) {
  return nb::bytes(bytes.data(), bytes.size()).attr("decode")("utf-8", "replace");
}

}  // namespace

void bind_check(nb::module_& module) {
  nb::class_<Session>(module, "CheckSession")
      .def(nb::init<const std::vector<std::string>&, const std::vector<std::string>&, const std::vector<std::string>&,
                    bool, std::uint64_t, std::size_t, std::vector<std::string>>())
      .def("close", &Session::close)
      .def("json", [](const Session& session) { return text(session.json()); })
      .def("sarif", [](const Session& session) { return text(session.sarif()); })
      .def("texts",
           [](const Session& session, bool colour) {
             nb::list list;
             for (const std::string& one : session.texts(colour)) list.append(text(one));
             return list;
           })
      .def("counts", &Session::counts)
      .def("lost", &Session::lost)
      .def("suppressed", &Session::suppressed)
      .def("dispatches", &Session::dispatches);
  module.def("is_checking", &is_checking);
  module.def("end_with", &end_with);
}
