// eval is out of reach without the grant.
// expect: error any
(0, eval)('1')
