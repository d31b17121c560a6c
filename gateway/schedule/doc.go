// Package schedule runs saved functions by the clock. A schedule is a cron expression of five fields (robfig/cron's
// standard parser: minute, hour, day of month, month, day of week, and @hourly and the like) in a named time zone. In
// a night when the clocks change, a time of the day that does not exist is skipped, and one that occurs twice runs
// once.
//
// After a downtime, at most MaxMissed times are made up for, at the cost of a few thousand calendar steps, however
// long it was. When the clock is set back, schedules continue from the new time. A time of the day that occurs again
// makes the same job, which runs once. One call of [Clock.RunDue] is bounded, and tenants take turns in it.
//
// The next time of a function is stored with it, and the ID of each job is made from the function and that time.
// However many processes see the time come, and whenever one of them dies, it becomes one job.
//
// Packages gateway and registry import it. Start with [Clock].
package schedule
