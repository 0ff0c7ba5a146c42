kernel void f(device float* x [[buffer(0)]], texture2d<float> t [[texture(0)]]) { x[0] = undeclared + ; }
vertex float4 v(uint i [[vertex_id]]) { return float4(i); }
kernel int g() { return "text"; }
template <int N> struct Deep { Deep<N - 1> inner; }; Deep<100000> d;
