// NSError.
#include "metal/foundation/foundation.h"

NSErrorDomain const NSCocoaErrorDomain = @"NSCocoaErrorDomain";
NSErrorDomain const NSPOSIXErrorDomain = @"NSPOSIXErrorDomain";
NSErrorUserInfoKey const NSLocalizedDescriptionKey = @"NSLocalizedDescription";
NSErrorUserInfoKey const NSLocalizedFailureReasonErrorKey = @"NSLocalizedFailureReason";
NSErrorUserInfoKey const NSLocalizedRecoverySuggestionErrorKey = @"NSLocalizedRecoverySuggestion";
NSErrorUserInfoKey const NSUnderlyingErrorKey = @"NSUnderlyingError";
NSErrorUserInfoKey const NSFilePathErrorKey = @"NSFilePath";

@implementation NSError {
  NSErrorDomain domain;
  NSInteger code;
  NSDictionary* info;
}
@synthesize domain = domain, code = code;
+ (instancetype)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary*)info {
  return [[[self alloc] initWithDomain:domain code:code userInfo:info] autorelease];
}
- (instancetype)initWithDomain:(NSErrorDomain)itsDomain code:(NSInteger)itsCode userInfo:(NSDictionary*)itsInfo {
  domain = [itsDomain copy];
  code = itsCode;
  info = [itsInfo copy];
  return self;
}
- (void)dealloc {
  [domain release];
  [info release];
  [super dealloc];
}
- (NSDictionary*)userInfo {
  return info ? info : [NSDictionary dictionary];
}
- (NSString*)localizedDescription {
  if (NSString* text = [info objectForKey:NSLocalizedDescriptionKey]) return text;
  return [NSString stringWithFormat:@"The operation couldn’t be completed. (%@ error %ld.)", domain, code];
}
- (NSString*)localizedFailureReason {
  return [info objectForKey:NSLocalizedFailureReasonErrorKey];
}
- (NSString*)localizedRecoverySuggestion {
  return [info objectForKey:NSLocalizedRecoverySuggestionErrorKey];
}
- (NSString*)description {
  return [NSString stringWithFormat:@"Error Domain=%@ Code=%ld \"%@\"", domain, code, [self localizedDescription]];
}
@end

NSError* metalloid::objective_c::error_of(NSErrorDomain domain, NSInteger code, std::string_view message) {
  return [NSError errorWithDomain:domain
                             code:code
                         userInfo:@{NSLocalizedDescriptionKey : string_of(message)}];
}
