// Exceptions and their pointers with libc++ over libstdc++'s runtime.
#include <exception>
#include <future>
#include <iostream>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>
struct Mine : std::runtime_error {
  using runtime_error::runtime_error;
};
int main() {
  try {
    throw Mine("one");
  } catch (const std::exception& e) {
    std::cout << e.what() << "\n";
  }
  auto f = std::async(std::launch::async, []() -> int { throw Mine("two"); });
  try {
    (void)f.get();
  } catch (const Mine& e) {
    std::cout << e.what() << "\n";
  }
  try {
    (void)std::stoi("x");
  } catch (const std::invalid_argument& e) {
    std::cout << e.what() << "\n";
  }
  try {
    (void)std::vector<int>().at(3);
  } catch (const std::out_of_range& e) {
    std::cout << e.what() << "\n";
  }
  try {
    std::regex("(");
  } catch (const std::regex_error& e) {
    std::cout << e.what() << "\n";
  }
  try {
    std::function<void()>()();
  } catch (const std::bad_function_call& e) {
    std::cout << e.what() << "\n";
  }
  std::exception_ptr p;
  try {
    throw 3;
  } catch (...) {
    p = std::current_exception();
  }
  try {
    std::rethrow_exception(p);
  } catch (int i) {
    std::cout << i << " " << std::uncaught_exceptions() << "\n";
  }
  try {
    try {
      throw Mine("in");
    } catch (...) {
      std::throw_with_nested(Mine("out"));
    }
  } catch (const Mine& e) {
    try {
      std::rethrow_if_nested(e);
    } catch (const Mine& i) {
      std::cout << e.what() << i.what() << "\n";
    }
  }
  std::cout << dynamic_cast<std::exception*>(new Mine("x"))->what() << std::endl;
}
