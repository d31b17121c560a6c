// Functions of the library do not give away their callers.
// expect: any
return [console.log.caller, console.log.arguments];
