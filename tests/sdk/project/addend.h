// What a kernel adds.
#pragma once
constant float addend = 5;
