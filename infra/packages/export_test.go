package packages

// Unpack unpacks one archive.
func Unpack(archive []byte) (map[string][]byte, error) {
	budget := int64(maxUnpacked)
	return unpack(archive, &budget, source)
}

// ReadLock reads a lock and returns the integrity of each of its packages.
func ReadLock(text []byte) (closures []string, err error) {
	l, err := readLock(text)
	if err != nil {
		return nil, err
	}
	for name := range l.Packages[""].Dependencies {
		closures = append(closures, l.closure(name)...)
	}
	for place, e := range l.Packages {
		if place != "" {
			closures = append(closures, e.archiveName(place))
		}
	}
	return closures, nil
}
