package httpconn

import "github.com/airlock-run/airlock/gateway/bounds"

// MaxConnections returns how many connections a gateway accepts that may have the given number of files open; 0 is
// unknown. The other half is for function processes, stores and outgoing connections.
func MaxConnections(files int) int {
	most := bounds.Of(bounds.Connections).Most
	if files == 0 {
		return most
	}
	return max(1, min(most, files/2))
}
