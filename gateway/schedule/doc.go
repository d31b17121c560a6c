// Package schedule runs saved functions by the clock. A schedule is a cron expression of five fields (robfig/cron's
// standard parser: minute, hour, day of month, month, day of week, and @hourly and the like) in a named time zone. In a
// night when the clocks change, a time of the day that does not exist is passed over and one that comes twice runs once.
//
// The time at which a function runs next is kept with it, and each run is a job whose id is made of the function and that
// time: however many processes see it come, and whenever one of them dies, it becomes one job.
package schedule
