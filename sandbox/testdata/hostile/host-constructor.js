// Function is out of reach without the grant.
// expect: error any
console.log.constructor.constructor('return 1')()
