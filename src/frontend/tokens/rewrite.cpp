#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {

void Rewriter::run(TokenList& tokens) {
  if (reading_.wanted) left_something_out_ = leave_out_unreached(tokens, *reading_.wanted, factory_);
  if (reading_.instantiations) {
    named_kernels_ = leave_out_instantiations(tokens, *reading_.instantiations, factory_);
    left_something_out_ |= !named_kernels_.empty();
  }
  reject_words_of_hosts(tokens, factory_);
  thread_declarators_ = find_thread_declarators(tokens);
  remove_thread_qualifiers(tokens);
  expand_bfloat_literals(tokens, factory_);
  place_texts_in_constant_space(tokens, factory_);
  merge_address_space_members(tokens, factory_);
  rewrite_variables(tokens, factory_);
  rewrite_program_arguments(tokens, factory_);
  rewrite_array_parameters(tokens, factory_);
  rewrite_attributes(tokens, factory_, host_names_);
  name_address_spaces(tokens, factory_);
}

}  // namespace metalloid::frontend::tokens
