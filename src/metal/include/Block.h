// <Block.h>: blocks that outlive their function.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) void* _Block_copy(const void* block);
__attribute__((visibility("default"))) void _Block_release(const void* block);
#ifdef __cplusplus
}
#endif

#define Block_copy(...) ((__typeof(__VA_ARGS__))_Block_copy((const void*)(__VA_ARGS__)))
#define Block_release(...) _Block_release((const void*)(__VA_ARGS__))
