// Package schedule runs saved functions by the clock. A schedule is a cron expression of five fields (robfig/cron's
// standard parser: minute, hour, day of month, month, day of week, and @hourly and the like) in a named time zone. In a
// night when the clocks change, a time of the day that does not exist is passed over and one that comes twice runs once.
//
// After a downtime, at most MaxMissed times are made up for, at the cost of a few thousand looks at the calendar however
// long it was. When the clock is put back, schedules go on from the new time; a time of the day that comes again makes the
// same job, which runs once. A turn is bounded, and tenants take turns in it.
//
// The time at which a function runs next is kept with it, and each run is a job whose id is made of the function and that
// time: however many processes see it come, and whenever one of them dies, it becomes one job.
package schedule
