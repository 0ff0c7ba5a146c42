#define E1 undeclared_ + undeclared_ + ;
#define E2 E1 E1 E1 E1 E1 E1 E1 E1
#define E3 E2 E2 E2 E2 E2 E2 E2 E2
#define E4 E3 E3 E3 E3 E3 E3 E3 E3
kernel void f() { E4 }
#warning one
#warning two
template <typename T> struct A { typename T::type::type x; };
A<int> a; A<float> b; A<A<int>> c;
