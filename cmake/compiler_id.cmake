# Writes OUTPUT, a C++ source that defines metalloid::support::compiler_id(): a hash of the contents of the files that
# the file LIST names, a line each, and of SETTINGS.
#   cmake -DOUTPUT=... -DLIST=... -DSETTINGS=... -P compiler_id.cmake
file(STRINGS ${LIST} files)
set(hashes "${SETTINGS}")
foreach(file ${files})
  file(SHA256 ${file} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 id "${hashes}")
file(WRITE ${OUTPUT} "#include \"support/compiler_id.h\"

namespace metalloid::support {
std::string_view compiler_id() { return \"${id}\"; }
}  // namespace metalloid::support
")
