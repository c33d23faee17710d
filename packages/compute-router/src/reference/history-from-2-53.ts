/** What each microversion since 2.53 changed, and why. */
export const historyFrom253: Readonly<Record<string, string>> = {
  '2.53':
    'Identifies services and hypervisors by UUID, because integer IDs are not unique across cells. Adds an operation that updates a service by ID. Removes the operations that search hypervisors and list their servers. Query parameters of the hypervisor list replace the removed operations.',
  '2.54': 'Allows a rebuild to replace or remove the key pair of a server.',
  '2.55': 'Adds a description to flavors. The description is the only flavor attribute that can be updated.',
  '2.56': 'Allows requests for cold migrations to specify a destination host, which the scheduler checks.',
  '2.57':
    'Removes file injection (`personality`) and its quotas, because file injection was insecure and few images supported it. Use user data instead, which a rebuild can now change.',
  '2.58':
    'Adds pagination and a time filter to the list of server actions, and adds the time of the last change to each action.',
  '2.59': 'Adds pagination and a time filter to the list of migrations, and adds a UUID to each migration.',
  '2.60': 'Allows clients to attach multiattach volumes to several servers. Older versions reject such volumes.',
  '2.61':
    'Shows the extra specs of flavors to callers that the policy allows to read them. Previously, clients had to send a separate request for each flavor.',
  '2.62':
    'Shows on which host each event of a server action occurred: all callers see an opaque identifier, administrators see the name.',
  '2.63':
    'Allows requests that create or rebuild a server to contain the IDs of trusted certificates, which are used to validate the signature of the image.',
  '2.64':
    "Replaces a server group's list `policies` with a single `policy`, and adds `rules`, such as the maximum number of servers per host with anti-affinity. Removes the field `metadata`, which was always empty.",
  '2.65': 'Allows clients to abort a live migration that is queued or being prepared.',
  '2.66':
    'Adds the filter `changes-before` to the lists of servers, server actions and migrations. Together with `changes-since`, `changes-before` defines a time range.',
  '2.67':
    'Allows requests that create servers to specify the type of new volumes. Previously, clients had to create such volumes before the server.',
  '2.68':
    'Removes `force` from live migration and evacuation requests, because forced moves exceeded the capacity of hosts and made allocations inconsistent.',
  '2.69':
    'Returns partial data, with the status `UNKNOWN`, for servers and services in an unreachable cell. Previously, such servers and services were missing from lists, and requests for a single server or service returned 500.',
  '2.70': "Shows the device tags of a server's volumes and interfaces.",
  '2.71': 'Shows the server group to which a server belongs. Previously, clients had to search all server groups.',
  '2.72':
    'Supports creating servers with ports that request guaranteed bandwidth. The scheduler selects a host that can provide the bandwidth. Older versions reject such ports.',
  '2.73': 'Allows clients to specify a reason when they lock a server, and adds a filter for locked servers.',
  '2.74':
    'Allows administrators to specify the host or hypervisor of a new server in separate fields. The scheduler checks the host in these fields, but not a host in the field `availability_zone`.',
  '2.75':
    'Removes several inconsistencies: the main lists return 400 for unknown query parameters, the responses to update and rebuild requests contain all fields of the server, the swap size of a flavor without swap is 0 instead of an empty string, and a hypervisor without servers has an empty list.',
  '2.76':
    'Adds the external event `power-update`, with which the bare metal service reports a changed power state. Without `power-update`, the compute service would revert the change.',
  '2.77': 'Allows unshelving a server in a different availability zone, for example if the original zone has failed.',
  '2.78':
    'Adds an operation that shows the NUMA topology of a server: nodes, memory and virtual CPUs. Administrators also see the placement on the host.',
  '2.79':
    'Adds `delete_on_termination` to volume attachments. Previously, it could be set only when the server was created.',
  '2.80': 'Shows the user and the project of the caller who started a migration, and adds filters for both.',
  '2.81':
    'Adds an operation that caches images on all hosts in an aggregate, so that the first server created from an image starts faster.',
  '2.82':
    'Adds the external event `accelerator-request-bound`, with which the accelerator service reports that the accelerators for a new server are ready.',
  '2.83':
    'Allows all callers to filter servers by more of the fields that they can see: zone, key pair, states, times, progress and user.',
  '2.84':
    'Adds error details to the events of server actions. The error details are intended for users and do not contain internal data.',
  '2.85': 'Allows users to change `delete_on_termination` for an attached volume.',
  '2.86':
    'Validates the extra specs of flavors: known keys must have valid values. Previously, invalid values were noticed only when the scheduler could not find a host.',
  '2.87': 'Supports rescuing a server whose root disk is a volume.',
  '2.88':
    'Removes the capacity and usage of hypervisors, and the summary statistics, which were often inaccurate. The placement service reports these values instead. The uptime becomes a field instead of an operation.',
  '2.89':
    "Adds the volume service's attachment ID and the UUID of the block device mapping to volume attachments. Removes `id`, which repeated the volume ID.",
  '2.90':
    'Allows users to set and change the hostname of a server, and shows it to all callers. Previously, the hostname was derived from the name of the server when the server was created.',
  '2.91': 'Allows unshelving a server to a specific host, and removing its pin to an availability zone.',
  '2.92':
    'Requires the public key when a key pair is created, because the API no longer generates private keys. Allows `@` and `.` in the names of key pairs.',
  '2.93': 'Supports rebuilding a server whose root disk is a volume. The rebuild writes the new image to the volume.',
  '2.94': 'Allows a fully qualified domain name (FQDN) as the hostname of a server.',
  '2.95':
    'Leaves an evacuated server stopped until a user starts it, because its data may have to be repaired first. The request is rejected if a compute service is too old to support this behavior.',
  '2.96': 'Shows the availability zone to which a server is pinned. The server can migrate only within this zone.',
  '2.97': 'Supports attaching shared file systems to servers.',
  '2.98':
    "Adds the image's properties to the representation of a server, with the values at the time when the server was created or rebuilt, because the image may have been changed or deleted since then.",
  '2.99':
    'Adds direct SPICE consoles, which do not require a web page, and adds the TLS port to the connection data for console proxies.',
  '2.100': 'Shows the scheduler hints of a server, which also apply when the server is migrated later.',
  '2.101':
    'Makes attaching a volume asynchronous: the response is 202 without a body, because the host may take longer than client timeouts to select a device.',
  '2.102':
    'Rejects unknown query parameters in all GET requests. Removes the flavor fields `rxtx_factor` and `disabled`, which had no effect.',
  '2.103': 'Removes `os-volumes_boot`, which is an alias for the servers API.',
  '2.104':
    'Allows clients to pin an existing server to its availability zone, and to remove the pin. A request with a different zone returns 409.',
};
