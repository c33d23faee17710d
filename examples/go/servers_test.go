package servers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/apistrata/apistrata/examples/go/testcloud"
)

type serverList struct {
	Servers []struct{ ID, Name, Status string }
}

func server(name string) map[string]any {
	return map[string]any{"server": map[string]any{
		"name":      name,
		"flavorRef": "1",
		"imageRef":  "70a599e0-31e7-49b7-b260-868f441e862b",
		"networks":  []map[string]string{{"uuid": "2e2b1f4c-5c58-4f0c-9a3b-0f6a5d1c7e10"}},
	}}
}

func TestBootsAServer(t *testing.T) {
	cloud := testcloud.Start(t)
	token := cloud.Token(t, "ada", "lab")
	if err := cloud.Request(http.MethodPost, "/compute/v2.1/servers", token, server("web"), nil); err != nil {
		t.Fatal(err)
	}
	cloud.Control(t, http.MethodPost, "/idle", nil, nil)
	var list serverList
	if err := cloud.Request(http.MethodGet, "/compute/v2.1/servers/detail", token, nil, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Servers) != 1 || list.Servers[0].Status != "ACTIVE" {
		t.Fatalf("unexpected servers: %+v", list.Servers)
	}
	cloud.Reset(t)
	token = cloud.Token(t, "ada", "lab")
	if err := cloud.Request(http.MethodGet, "/compute/v2.1/servers/detail", token, nil, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Servers) != 0 {
		t.Fatalf("servers after a reset: %+v", list.Servers)
	}
}

func TestRetriesAfterAnError(t *testing.T) {
	cloud := testcloud.Start(t)
	calls := cloud.Rule(t, map[string]any{"http": map[string]any{
		"match": map[string]any{"method": "POST", "path": "/compute/v2.1/servers"}, "status": 503, "times": 1,
	}})
	token := cloud.Token(t, "admin", "demo")
	err := cloud.Request(http.MethodPost, "/compute/v2.1/servers", token, server("web"), nil)
	if err == nil || !strings.Contains(err.Error(), "503") {
		t.Fatalf("expected 503, got %v", err)
	}
	if err := cloud.Request(http.MethodPost, "/compute/v2.1/servers", token, server("web"), nil); err != nil {
		t.Fatal(err)
	}
	if calls() != 2 {
		t.Fatalf("the rule matched %d times", calls())
	}
}

func TestSetsTheEnvironmentOfClients(t *testing.T) {
	cloud := testcloud.Start(t)
	cloud.Setenv(t)
	response, err := http.Get(cloud.Environment["OS_AUTH_URL"])
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the identity service responded with %s", response.Status)
	}
}
