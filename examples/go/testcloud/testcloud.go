// Package testcloud starts a cloud for the tests of a Go package.
package testcloud

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Command starts a cloud; the environment variable TEST_CLOUD overrides it.
const Command = "npx --yes @apistrata/test-cloud"

// Cloud is a running cloud: its address, its credentials and its control API.
type Cloud struct {
	// URL is the address of the cloud, without a trailing slash.
	URL string
	// Environment contains the variables that clients read, such as OS_AUTH_URL.
	Environment map[string]string
}

// Start starts a cloud, which stops when the test ends.
func Start(t testing.TB) *Cloud {
	t.Helper()
	command := os.Getenv("TEST_CLOUD")
	if command == "" {
		command = Command
	}
	words := append(strings.Fields(command), "--port", "0", "--quiet")
	process := exec.Command(words[0], words[1:]...)
	process.Stderr = os.Stderr
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(os.Interrupt)
		_ = process.Wait()
	})
	// The cloud prints one variable per line, OS_IDENTITY_API_VERSION last.
	environment := map[string]string{}
	for lines := bufio.NewScanner(stdout); environment["OS_IDENTITY_API_VERSION"] == "" && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		environment[name] = strings.Trim(value, "'")
	}
	if environment["OS_IDENTITY_API_VERSION"] == "" {
		t.Fatal("the cloud exited before it printed its address")
	}
	return &Cloud{URL: strings.TrimSuffix(environment["OS_AUTH_URL"], "/identity/v3"), Environment: environment}
}

// Setenv sets the environment variables that the SDK reads, for the duration of the test.
func (c *Cloud) Setenv(t *testing.T) {
	t.Helper()
	for name, value := range c.Environment {
		t.Setenv(name, value)
	}
	// The Go SDK reads OS_DOMAIN_NAME instead of OS_USER_DOMAIN_NAME.
	t.Setenv("OS_DOMAIN_NAME", c.Environment["OS_USER_DOMAIN_NAME"])
}

// Reset restores the initial state of the cloud: no servers, no rules, no journal.
func (c *Cloud) Reset(t testing.TB) {
	t.Helper()
	c.Control(t, http.MethodPost, "/reset", nil, nil)
}

// Token returns a token without a login. A missing user or project is created.
func (c *Cloud) Token(t testing.TB, user, project string) string {
	t.Helper()
	var created struct{ Token string }
	c.Control(t, http.MethodPost, "/tokens", map[string]string{"user": user, "project": project}, &created)
	return created.Token
}

// Rule adds a rule for the rest of the test, and returns a function that counts its matches.
func (c *Cloud) Rule(t testing.TB, rule map[string]any) (calls func() int) {
	t.Helper()
	var created struct{ ID string }
	c.Control(t, http.MethodPost, "/rules", rule, &created)
	t.Cleanup(func() { c.Control(t, http.MethodDelete, "/rules/"+created.ID, nil, nil) })
	return func() int {
		var current struct{ Calls int }
		c.Control(t, http.MethodGet, "/rules/"+created.ID, nil, &current)
		return current.Calls
	}
}

// Control sends one request to the control API and decodes the JSON response into result.
func (c *Cloud) Control(t testing.TB, method, path string, body, result any) {
	t.Helper()
	if err := request(method, c.URL+"/_control"+path, "", body, result); err != nil {
		t.Fatal(err)
	}
}

// Request sends one authenticated request to a service and decodes the JSON response into result.
func (c *Cloud) Request(method, path, token string, body, result any) error {
	return request(method, c.URL+path, token, body, result)
}

func request(method, url, token string, body, result any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, url, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("X-Auth-Token", token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, url, response.Status, text)
	}
	if result == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, result)
}
