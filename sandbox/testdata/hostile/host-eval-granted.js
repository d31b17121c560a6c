// eval works with the grant.
// expect: value 3
// grant: eval
eval('1 + 2')
