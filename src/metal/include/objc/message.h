// <objc/message.h>: messages by hand. A call casts the function to the method's type; on x86-64 a result of more than 16
// bytes wants objc_msgSend_stret.
#pragma once
#pragma GCC system_header  // compilers know these functions by another type

#include <objc/runtime.h>

struct objc_super {
  id receiver;
  Class super_class;
};

OBJC_EXTERN void objc_msgSend(void);
OBJC_EXTERN IMP objc_msg_lookup(id receiver, SEL selector);
OBJC_EXTERN IMP objc_msg_lookup_super(struct objc_super* super, SEL selector);
#ifdef __x86_64__
OBJC_EXTERN void objc_msgSend_stret(void);
OBJC_EXTERN void objc_msgSend_fpret(void);
#endif
