#line 4294967295 "\033[2Jescape\007"
kernel void [[host_name("\033]0;title\007")]] f(device int* a [[buffer(4294967296)]], device int* b [[buffer(30), buffer(-1)]]) {
#line 1 ""
  undeclared = 1;
}
