// Prices of European calls and puts.
#include <metal_stdlib>
using namespace metal;

// The normal distribution, by Abramowitz and Stegun 26.2.17.
static float distribution(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  const float tail = 0.39894228f * exp(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

kernel void black_scholes(device float* calls, device float* puts, device const float* prices,
                          device const float* strikes, device const float* years, constant float& rate,
                          constant float& volatility, uint i [[thread_position_in_grid]]) {
  const float price = prices[i], strike = strikes[i], time = years[i];
  const float spread = volatility * sqrt(time);
  const float d1 = (log(price / strike) + (rate + 0.5f * volatility * volatility) * time) / spread;
  const float d2 = d1 - spread;
  const float discounted = strike * exp(-rate * time);
  const float n1 = distribution(d1), n2 = distribution(d2);
  calls[i] = price * n1 - discounted * n2;
  puts[i] = discounted * (1.0f - n2) - price * (1.0f - n1);
}
