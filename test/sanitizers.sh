# To be sourced: the flags of the builds with AddressSanitizer and UndefinedBehaviorSanitizer,
# for gcc and clang.  What `undefined` leaves out: a REAL cast to an integer that cannot hold it.
sanitizers='-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all'
