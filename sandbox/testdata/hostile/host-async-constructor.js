// AsyncFunction is out of reach without the grant.
// expect: error any
(async () => {}).constructor('return 1')()
