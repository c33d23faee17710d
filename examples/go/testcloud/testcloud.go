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

// Command starts a cloud; the environment variable TEST_CLOUD says another one.
const Command = "npx --yes @apistrata/test-cloud"

// Cloud is a running cloud: how to reach it, and its remote control.
type Cloud struct {
	// URL is where it is, without a slash at the end.
	URL string
	// Environment has the variables that clients read: OS_AUTH_URL and so on.
	Environment map[string]string
}

// Start starts a cloud that ends with the test.
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
	// The environment to export, one variable a line; the last one says that all are there.
	environment := map[string]string{}
	for lines := bufio.NewScanner(stdout); environment["OS_IDENTITY_API_VERSION"] == "" && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		environment[name] = strings.Trim(value, "'")
	}
	if environment["OS_IDENTITY_API_VERSION"] == "" {
		t.Fatal("the cloud ended before it told where it is")
	}
	return &Cloud{URL: strings.TrimSuffix(environment["OS_AUTH_URL"], "/identity/v3"), Environment: environment}
}

// Setenv gives the variables of the cloud to the process for the time of the test, as the SDK reads them.
func (c *Cloud) Setenv(t *testing.T) {
	t.Helper()
	for name, value := range c.Environment {
		t.Setenv(name, value)
	}
	// What the Go SDK calls the domain of the user.
	t.Setenv("OS_DOMAIN_NAME", c.Environment["OS_USER_DOMAIN_NAME"])
}

// Reset makes the cloud what it was at the start: no servers, no rules, no journal.
func (c *Cloud) Reset(t testing.TB) {
	t.Helper()
	c.Control(t, http.MethodPost, "/reset", nil, nil)
}

// Token gives a token without a login; who is not there is made.
func (c *Cloud) Token(t testing.TB, user, project string) string {
	t.Helper()
	var answer struct{ Token string }
	c.Control(t, http.MethodPost, "/tokens", map[string]string{"user": user, "project": project}, &answer)
	return answer.Token
}

// Rule adds a rule for the rest of the test and gives what tells how often it matched.
func (c *Cloud) Rule(t testing.TB, rule map[string]any) (calls func() int) {
	t.Helper()
	var made struct{ ID string }
	c.Control(t, http.MethodPost, "/rules", rule, &made)
	t.Cleanup(func() { c.Control(t, http.MethodDelete, "/rules/"+made.ID, nil, nil) })
	return func() int {
		var seen struct{ Calls int }
		c.Control(t, http.MethodGet, "/rules/"+made.ID, nil, &seen)
		return seen.Calls
	}
}

// Control sends one request to the remote control and reads its JSON into answer.
func (c *Cloud) Control(t testing.TB, method, path string, body, answer any) {
	t.Helper()
	if err := request(method, c.URL+"/_control"+path, "", body, answer); err != nil {
		t.Fatal(err)
	}
}

// Ask sends one request to a service with a token and reads its JSON into answer.
func (c *Cloud) Ask(method, path, token string, body, answer any) error {
	return request(method, c.URL+path, token, body, answer)
}

func request(method, url, token string, body, answer any) error {
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
	if answer == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, answer)
}
