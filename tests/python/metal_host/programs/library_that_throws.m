// A library with an exception's class of its own, that throws and catches.
#import <Foundation/Foundation.h>

@interface ClassOfLibrary : NSException
@end
@implementation ClassOfLibrary
@end

void throw_own(bool does) {
  if (does) @throw [ClassOfLibrary exceptionWithName:@"own" reason:nil userInfo:nil];
}

int caught_by_library(void (*work)(void)) {
  int result = 0;
  @try {
    work();
  } @catch (ClassOfLibrary* one) {
    result = 3;
  } @catch (NSException* one) {
    result = 1;
  } @catch (NSString* one) {
    result = 2;
  } @finally {
    result += 0;
  }
  return result;
}
