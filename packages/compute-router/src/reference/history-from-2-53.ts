/** What each microversion since 2.53 changed, and why. */
export const historyFrom253: Readonly<Record<string, string>> = {
  '2.53':
    'Identifies services and hypervisors by UUID, because integer IDs are not unique across cells. One operation updates a service by ID. Searching hypervisors and listing their servers become query parameters of the list.',
  '2.54': 'Allows a rebuild to replace or remove the key pair of a server.',
  '2.55': 'Adds the description of a flavor, the only attribute that can be updated.',
  '2.56': 'Allows a destination host for cold migrations. The scheduler validates it.',
  '2.57':
    'Removes file injection (`personality`) and its quotas: it was insecure and supported by few images. User data replaces it and can be changed by a rebuild.',
  '2.58': 'Adds pagination, a filter by time and the time of the last change to the actions of a server.',
  '2.59': 'Adds pagination, a filter by time and UUIDs to migrations.',
  '2.60': 'Supports attaching multiattach volumes to several servers. Older versions reject them.',
  '2.61':
    'Shows extra specs in flavors to callers allowed by the policy. Previously, each flavor required a separate request.',
  '2.62': 'Shows the host of an event of an action: an opaque identifier to all callers, the name to administrators.',
  '2.63':
    'Requests that create or rebuild a server can contain IDs of trusted certificates, against which the signature of the image is validated.',
  '2.64':
    'Replaces the list `policies` of a server group with the single `policy` and adds `rules`, such as the maximum number of servers per host with anti-affinity. Removes the metadata field, which was always empty.',
  '2.65': 'Allows a live migration to be aborted while it is queued or being prepared.',
  '2.66':
    'Adds the filter `changes-before` to lists of servers, actions and migrations, which completes a time window.',
  '2.67':
    'Adds the volume type for volumes that are created with a server. Previously, a volume of a specific type had to be created beforehand.',
  '2.68':
    'Removes `force` from live migrations and evacuations. Forced servers exceeded the capacity of hosts and made allocations inconsistent.',
  '2.69':
    'Lists servers and services of an unreachable cell with partial data and the status `UNKNOWN`. Previously, they were missing from lists, and showing one returned 500.',
  '2.70': 'Shows the device tags of volumes and interfaces of a server.',
  '2.71': 'Shows the server group of a server. Previously, a client had to search all groups.',
  '2.72':
    'Supports creating servers with ports that request guaranteed bandwidth. The scheduler selects a host that provides it. Older versions reject such ports.',
  '2.73': 'Adds a reason to the lock of a server, and a filter for locked servers.',
  '2.74':
    'Adds fields for the host and the hypervisor of a new server, for administrators. Unlike a host in the availability zone, the scheduler validates them.',
  '2.75':
    'Removes several inconsistencies: unknown query parameters of the main lists return 400, updating and rebuilding a server return all its fields, a flavor without swap has 0 instead of an empty string, and a hypervisor without servers has an empty list.',
  '2.76':
    'Adds the external event `power-update`, with which the bare metal service reports a changed power state so that it is not reverted.',
  '2.77': 'Allows unshelving a server into another availability zone, for example if its own has failed.',
  '2.78':
    'Shows the NUMA topology of a server: nodes, memory, virtual CPUs and, to administrators, the placement on the host.',
  '2.79': 'Adds `delete_on_termination` to volume attachments. Previously, it could be set only in the create request.',
  '2.80': 'Shows the project and the user of a migration and adds filters for both.',
  '2.81':
    'Adds caching of images on all hosts of an aggregate, so that the first server created from an image starts faster.',
  '2.82':
    'Adds the external event `accelerator-request-bound`, with which the accelerator service completes requests of new servers.',
  '2.83':
    'Allows all callers to filter servers by more of their visible fields: zone, key pair, states, times, progress and user.',
  '2.84': 'Adds error details for users to the events of actions, without internal data.',
  '2.85': 'Allows users to change `delete_on_termination` of an attached volume.',
  '2.86':
    'Validates extra specs of flavors: known keys must have valid values. Previously, an error appeared only when no host could be found.',
  '2.87': 'Supports rescuing a server whose root disk is a volume.',
  '2.88':
    'Removes capacity and usage of hypervisors, and their sums, which were often inaccurate: the placement service reports them. Uptime becomes a field instead of an operation.',
  '2.89':
    'Shows the attachment ID of the volume service and the UUID of the block device mapping in volume attachments. Removes `id`, which repeated the volume ID.',
  '2.90':
    'Allows users to set and change the hostname of a server, and shows it to all callers. Previously, it was derived once from the name of the server.',
  '2.91': 'Allows unshelving a server to a specific host, and removing its pin to an availability zone.',
  '2.92':
    'Requires the public key when a key pair is created: the API no longer generates private keys. Names may contain `@` and `.`.',
  '2.93': 'Supports rebuilding a server whose root disk is a volume. The new image is written to the volume.',
  '2.94': 'Allows a fully qualified domain name (FQDN) as hostname.',
  '2.95':
    'Leaves an evacuated server stopped until a user starts it, because its data may need repair first. Rejected if the hosts do not support it.',
  '2.96': 'Shows the availability zone to which a server is pinned. It determines where the server can migrate.',
  '2.97': 'Supports attaching shared file systems to servers.',
  '2.98':
    'Shows the properties of the image in the server, with the values at the time of use. The image may have been changed or deleted since.',
  '2.99': 'Adds direct SPICE consoles without a web page, and the TLS port in the connection data for proxies.',
  '2.100': 'Shows the scheduler hints of a server, which also apply to later migrations.',
  '2.101':
    'Makes attaching a volume asynchronous: the response is 202 without a body, because the host may take longer than client timeouts to select a device.',
  '2.102':
    'Rejects unknown query parameters in all GET requests. Removes `rxtx_factor` and `disabled` from flavors, which had no effect.',
  '2.103': 'Removes `os-volumes_boot`, an alias of the servers API.',
  '2.104':
    'Allows pinning an existing server to its availability zone, and removing the pin. Another zone returns 409.',
};
