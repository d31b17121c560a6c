package s3objects_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/infra/s3objects"
)

// listing is a server that answers the requests for lists, which it counts.
func listing(t *testing.T, answer func(n int) string) (*s3.Client, *atomic.Int64) {
	t.Helper()
	asked := &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := int(asked.Add(1))
		_, _ = io.WriteString(w, answer(n))
	}))
	t.Cleanup(s.Close)
	client, err := s3objects.Connect(t.Context(), s3objects.Access{Endpoint: s.URL, Region: "a",
		Attempts: 1, AttemptTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return client, asked
}

// object is an entry of a list.
func object(kind, key string) string {
	name := "Key"
	if kind == "CommonPrefixes" {
		name = "Prefix"
	}
	return fmt.Sprintf("<%s><%s>%s</%s></%s>", kind, name, key, name, kind)
}

// TestEndlessLists: a list whose keys are not in order, or whose pages bring nothing, ends with an error.
func TestEndlessLists(t *testing.T) {
	more := func(token, content string) string {
		return "<R><IsTruncated>true</IsTruncated>" + token + content + "</R>"
	}
	v2 := func(n int) string { return fmt.Sprintf("<NextContinuationToken>%d</NextContinuationToken>", n) }
	same := "<NextContinuationToken>same</NextContinuationToken>"
	v1 := func(n int) string {
		return fmt.Sprintf("<NextKeyMarker>a</NextKeyMarker><NextVersionIdMarker>%d</NextVersionIdMarker>", n)
	}
	lists := map[string]func(client *s3.Client) error{
		"keys": func(client *s3.Client) error {
			bucket, prefix, after := "b", "p/", "p/b"
			in := &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix, StartAfter: &after}
			for _, err := range s3objects.Pages(t.Context(), client, in) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"versions": func(client *s3.Client) error {
			bucket, prefix := "b", "p/"
			in := &s3.ListObjectVersionsInput{Bucket: &bucket, Prefix: &prefix}
			for _, err := range s3objects.Versions(t.Context(), client, in) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	for _, c := range []struct {
		name, list string
		answer     func(n int) string
		most       int64 // requests
	}{
		{"empty pages", "keys", func(n int) string { return more(v2(n), "") }, 1001},
		{"the same page", "keys", func(int) string { return more(same, object("Contents", "p/c")) }, 2},
		{"the same folder", "keys", func(int) string { return more(same, object("CommonPrefixes", "p/c/")) }, 2},
		{"the same token", "keys", func(n int) string {
			return more(same, object("Contents", fmt.Sprintf("p/c%05d", n)))
		}, 2},
		{"backwards", "keys", func(n int) string { return more(v2(n), object("Contents", fmt.Sprint("p/c", 9-n))) }, 2},
		{"twice", "keys", func(int) string { return more(same, strings.Repeat(object("Contents", "p/c"), 2)) }, 1},
		{"before the start", "keys", func(int) string { return more(same, object("Contents", "p/a")) }, 1},
		{"without the prefix", "keys", func(int) string { return more(same, object("Contents", "q")) }, 1},
		{"outside", "keys", func(int) string { return more(same, object("Contents", "p/../../etc/passwd")) }, 1},
		{"without keys", "keys", func(int) string { return more(same, "<Contents></Contents>") }, 1},
		{"a folder without a name", "keys", func(int) string { return more(same, object("CommonPrefixes", "")) }, 1},
		{"without a token", "keys", func(int) string { return more("", object("Contents", "p/c")) }, 1},
		{"versions without end", "versions", func(n int) string { return more(v1(n), object("Version", "p/a")) }, 1002},
		{"empty pages of versions", "versions", func(n int) string { return more(v1(n), "") }, 1001},
		{"versions backwards", "versions", func(n int) string {
			return more(v1(n), object("Version", fmt.Sprint("p/", 9-n)))
		}, 2},
		{"markers backwards", "versions", func(n int) string {
			return more(v1(n), object("DeleteMarker", fmt.Sprint("p/", 9-n)))
		}, 2},
		{"versions without keys", "versions", func(int) string { return more(v1(1), "<Version></Version>") }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client, asked := listing(t, c.answer)
			if err := lists[c.list](client); !errors.Is(err, s3objects.ErrList) {
				t.Errorf("the error is %v", err)
			}
			if n := asked.Load(); n > c.most {
				t.Errorf("%d requests; want at most %d", n, c.most)
			}
		})
	}
}

// TestLists: a list in order is whole, with some pages that are empty.
func TestLists(t *testing.T) {
	client, _ := listing(t, func(n int) string {
		content, next := object("Contents", fmt.Sprint("p/", n)), fmt.Sprint(n)
		if n%2 == 0 {
			content = ""
		}
		return fmt.Sprintf("<R><IsTruncated>%v</IsTruncated><NextContinuationToken>%s</NextContinuationToken>%s</R>",
			n < 9, next, content)
	})
	bucket, prefix, keys := "b", "p/", []string(nil)
	for page, err := range s3objects.Pages(t.Context(), client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	if got := strings.Join(keys, " "); got != "p/1 p/3 p/5 p/7 p/9" {
		t.Error(got)
	}
}
