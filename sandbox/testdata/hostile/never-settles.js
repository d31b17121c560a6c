// A promise that nothing can settle is reported at once.
// expect: error never settles
await new Promise(() => {});
