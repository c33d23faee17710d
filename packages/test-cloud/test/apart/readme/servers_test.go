package servers_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
)

func TestMain(m *testing.M) {
	cloud := exec.Command("npx", "--yes", "@apistrata/test-cloud", "--port", "0", "--quiet")
	stdout, _ := cloud.StdoutPipe()
	if err := cloud.Start(); err != nil {
		panic(err)
	}
	// The environment to export, one variable per line.
	for lines := bufio.NewScanner(stdout); os.Getenv("OS_IDENTITY_API_VERSION") == "" && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		os.Setenv(name, value)
	}
	// The name of OS_USER_DOMAIN_NAME in this SDK.
	os.Setenv("OS_DOMAIN_NAME", os.Getenv("OS_USER_DOMAIN_NAME"))
	code := m.Run()
	_ = cloud.Process.Signal(os.Interrupt)
	_ = cloud.Wait()
	os.Exit(code)
}

func TestListsServers(t *testing.T) {
	options, err := openstack.AuthOptionsFromEnv()
	if err != nil {
		t.Fatal(err)
	}
	provider, err := openstack.AuthenticatedClient(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	compute, err := openstack.NewComputeV2(provider, gophercloud.EndpointOpts{Region: os.Getenv("OS_REGION_NAME")})
	if err != nil {
		t.Fatal(err)
	}
	page, err := servers.List(compute, nil).AllPages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := servers.ExtractServers(page); len(all) != 0 {
		t.Fatalf("a new cloud has %d servers", len(all))
	}
}
