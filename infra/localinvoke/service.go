package localinvoke

import "net/http"

// ServiceHandler is interim.
func (p *Pool) ServiceHandler() http.Handler { return http.NotFoundHandler() }
