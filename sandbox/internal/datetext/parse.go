package datetext

import "math"

// date is what has been read of a date, a time and a time zone.
type date struct {
	days     [maxDays]int // numbers in the order in which they stand
	dayCount int
	named    int  // the month that a word names, or 0
	standard bool // in the format of the standard: a year has four or six digits

	times     [maxTimes]int // hours, minutes, seconds, milliseconds
	timeCount int
	half      int // the hours to add to those of a clock with twelve, or none

	sign         int // of the time zone; 0 if there is none
	hour, minute int // of the time zone, or none
}

// none is a number that was not read.
const none = -1

const (
	maxDays  = 3
	maxTimes = 4
	// maxDate is the latest date of JavaScript, in milliseconds since 1970.
	maxDate = 8.64e15
)

// Parse returns the milliseconds from the beginning of 1970 to the date that text names, or NaN if it names none. A
// date without a time zone is in UTC.
func Parse(text string) float64 {
	s, d := newScanner(text), date{half: none, hour: none, minute: none}
	if t, ok := d.readStandard(s); !ok || !d.readOther(s, t) {
		return math.NaN()
	}
	return d.value()
}

// readStandard reads as much of the format of the standard as there is. It returns the first token that does not
// belong to it. ok is false if nothing else can follow.
func (d *date) readStandard(s *scanner) (t token, ok bool) {
	switch {
	case s.current.isSign():
		sign := s.next()
		if !s.current.digits(6) || sign.symbol == '-' && s.current.value == 0 {
			if s.current.digits(6) {
				s.next()
			}
			return sign, true
		}
		d.addDay(sign.sign() * int(s.next().value))
	case s.current.digits(4):
		d.addDay(int(s.next().value))
	default:
		return s.next(), true
	}
	for n := 1; n < maxDays && s.skip('-'); n++ {
		if t := s.current; !t.digits(2) || n == 1 && !isMonth(int(t.value)) || n == 2 && !isDay(int(t.value)) {
			return s.next(), true
		}
		d.addDay(int(s.next().value))
	}
	if s.current.kind != word || s.current.meaning != separator {
		if s.current.kind != end {
			return s.next(), true
		}
	} else if s.next(); !d.readStandardTime(s) || s.current.kind != end {
		return token{}, false
	}
	if d.hour == none && d.timeCount == 0 {
		d.setZone(0)
	}
	d.standard = true
	return token{kind: end}, true
}

// readStandardTime reads hh:mm[:ss[.sss]][zone] and reports whether it is one.
func (d *date) readStandardTime(s *scanner) bool {
	// read reads two digits, which are at most limit: after hour 24 only zeros.
	read := func(limit int32) bool {
		if d.timeCount > 0 && d.times[0] == 24 {
			limit = 0
		}
		if t := s.current; !t.digits(2) || t.value > limit {
			return false
		}
		return d.addTime(int(s.next().value))
	}
	if !read(24) || !s.skip(':') || !read(59) {
		return false
	}
	if s.skip(':') {
		if !read(59) {
			return false
		}
		if s.skip('.') {
			t := s.current
			if t.kind != number || d.times[0] == 24 && t.value > 0 {
				return false
			}
			d.addTime(milliseconds(s.next()))
		}
	}
	if s.current.isZ() {
		s.next()
		d.setZone(0)
	} else if s.current.isSign() {
		return d.readStandardZone(s)
	}
	return true
}

// readStandardZone reads +hh:mm or +hhmm.
func (d *date) readStandardZone(s *scanner) bool {
	d.sign = s.next().sign()
	t := s.next()
	hour, minute := int(t.value), 0
	switch {
	case t.digits(4):
		hour, minute = hour/100, hour%100
	case !t.digits(2) || !s.skip(':') || !s.current.digits(2):
		return false
	default:
		minute = int(s.next().value)
	}
	d.hour, d.minute = hour, minute
	return hour <= 23 && minute <= 59
}

// readOther reads what remains, from token t on, and reports whether it can be a date.
func (d *date) readOther(s *scanner, t token) bool {
	counted := d.dayCount > 0 // a number was read
	for ; t.kind != end; t = s.next() {
		switch {
		case t.kind == number:
			counted = true
			if !d.addNumber(s, int(t.value)) {
				return false
			}
		case t.kind == word:
			switch {
			case t.meaning == half && d.timeCount > 0:
				d.half = int(t.value)
			case t.meaning == month:
				d.named = int(t.value)
				s.skip('-')
			case t.meaning == zone && counted:
				d.setZone(int(t.value))
			case counted || s.current.kind == number: // other words stand in front, and apart from numbers
				return false
			}
		case t.isSign() && (d.isUTC() || d.timeCount > 0):
			counted = true
			if !d.addOffset(s, t.sign()) {
				return false
			}
		case (t.isSign() || t.is(')')) && counted:
			return false
		}
	}
	return true
}

// addNumber adds a number to what it is part of, which its neighbours tell.
func (d *date) addNumber(s *scanner, n int) bool {
	switch {
	case s.skip(':'):
		if s.skip(':') { // no minutes
			return d.timeCount == 0 && d.addTime(n) && d.addTime(0)
		}
		if !d.addTime(n) {
			return false
		}
		if s.current.is('.') {
			s.next()
		}
	case s.skip('.') && d.expectsTime(n):
		d.addTime(n)
		if s.current.kind != number {
			return false
		}
		d.addLastTime(milliseconds(s.next()))
	case d.hour != none && d.minute == none && n <= 59:
		d.minute = n
	case d.expectsTime(n):
		d.addLastTime(n)
		t := s.current
		return t.kind == end || t.kind == space || t.isZ() || t.isSign()
	default:
		if !d.addDay(n) {
			return false
		}
		s.skip('-')
	}
	return true
}

// addOffset reads the offset of a time zone behind its sign. The number may be missing.
func (d *date) addOffset(s *scanner, sign int) bool {
	d.sign = sign
	var t token
	if s.current.kind == number {
		t = s.next()
	}
	hour, minute := int(t.value), 0
	switch {
	case s.current.is(':'):
		d.hour, d.minute = hour, none
		return true
	case t.length == 3 || t.length == 4:
		hour, minute = hour/100, hour%100
	case t.length != 1 && t.length != 2:
		return false
	}
	d.hour, d.minute = hour, minute
	return true
}

func (d *date) addDay(n int) bool {
	if d.dayCount == maxDays {
		return false
	}
	d.days[d.dayCount] = n
	d.dayCount++
	return true
}

func (d *date) addTime(n int) bool {
	if d.timeCount == maxTimes {
		return false
	}
	d.times[d.timeCount] = n
	d.timeCount++
	return true
}

// addLastTime adds the last number of a time.
func (d *date) addLastTime(n int) {
	d.addTime(n)
	d.timeCount = maxTimes
}

// expectsTime reports whether a number can follow those of the time.
func (d *date) expectsTime(n int) bool {
	switch d.timeCount {
	case 1, 2:
		return n <= 59
	case 3:
		return n <= 999
	}
	return false
}

// setZone sets the time zone to a number of hours from UTC.
func (d *date) setZone(hours int) {
	d.sign = 1
	if hours < 0 {
		d.sign, hours = -1, -hours
	}
	d.hour, d.minute = hours, 0
}

func (d *date) isUTC() bool { return d.hour == 0 && d.minute == 0 }

// value returns the date in milliseconds.
func (d *date) value() float64 {
	year, month, day, ok := d.day()
	clock, ok2 := d.clock()
	if !ok || !ok2 {
		return math.NaN()
	}
	var offset int
	if d.sign != 0 {
		offset = max(d.hour, 0)*3600 + max(d.minute, 0)*60
		if offset > math.MaxInt32>>1 {
			return math.NaN()
		}
	}
	ms := float64(daysBefore(year, month)+day-1)*86400_000 + float64(clock) - float64(d.sign*offset)*1000
	if math.Abs(ms) > maxDate {
		return math.NaN()
	}
	return ms
}

// daysBefore returns how many days lie between the beginning of 1970 and that of a month, in the Gregorian calendar.
func daysBefore(year, month int) int {
	const cycle, years, epoch = 146_097, 400, 719_468 // days, in so many years; days from March 1 of year 0 on
	if month <= 2 {                                   // a year ends with February here
		year, month = year-1, month+12
	}
	cycles := year / years
	if year < 0 {
		cycles = (year - years + 1) / years
	}
	year -= cycles * years
	return cycles*cycle + year*365 + year/4 - year/100 + (153*(month-3)+2)/5 - epoch
}

// day returns the year, the month and the day.
func (d *date) day() (year, month, day int, ok bool) {
	if d.dayCount == 0 {
		return 0, 0, 0, false
	}
	n := [maxDays]int{1, 1, 1}
	copy(n[:], d.days[:d.dayCount])
	switch {
	case d.named == 0 && (d.standard || !isDay(n[0])):
		year, month, day = n[0], n[1], n[2]
	case d.named == 0:
		month, day, year = n[0], n[1], n[2]
	case !isDay(n[0]):
		year, month, day = n[0], d.named, n[1]
	default:
		day, month, year = n[0], d.named, n[1]
	}
	switch {
	case d.standard:
	case year >= 0 && year <= 49:
		year += 2000
	case year >= 50 && year <= 99:
		year += 1900
	}
	return year, month, day, isMonth(month) && isDay(day)
}

// clock returns the milliseconds since the beginning of the day.
func (d *date) clock() (ms int, ok bool) {
	n := d.times
	if d.half != none {
		if n[0] > 12 {
			return 0, false
		}
		n[0] = n[0]%12 + d.half
	}
	ok = n[0] <= 23 && n[1] <= 59 && n[2] <= 59 && n[3] <= 999
	ok = ok || n == [maxTimes]int{24}
	return ((n[0]*60+n[1])*60+n[2])*1000 + n[3], ok
}

// milliseconds returns what the digits behind a decimal point mean.
func milliseconds(t token) int {
	n, length := int(t.value), min(t.length, maxDigits)
	for ; length < 3; length++ {
		n *= 10
	}
	for ; length > 3; length-- {
		n /= 10
	}
	return n
}

func isMonth(n int) bool { return n >= 1 && n <= 12 }
func isDay(n int) bool   { return n >= 1 && n <= 31 }
