/** What each microversion from 2.1 to 2.52 changed, and why. */
export const historyTo252: Readonly<Record<string, string>> = {
  '2.1':
    'The first version with microversions. It matches the API before microversions, except that requests are validated strictly: unknown fields in a request body are rejected.',
  '2.2':
    'Adds the type of a key pair: `ssh`, or `x509` for guests that authenticate users by certificate. Creating a key pair returns 201 and deleting one returns 204, because both are complete when the response is sent.',
  '2.3':
    'Shows administrators server attributes that were available only in the database: hostname, kernel and RAM disk image, launch index, reservation ID, root device name and user data. Attached volumes show `delete_on_termination`.',
  '2.4': 'Shows whether a fixed IP address is reserved.',
  '2.5': 'Allows all callers to filter servers by IPv6 address. Previously, only administrators could do so.',
  '2.6':
    'Adds one operation for remote consoles of all types. Removes the separate actions for VNC, SPICE, RDP and serial consoles.',
  '2.7':
    'Returns 409 for requests that add project access to a public flavor. Previously, such a request was accepted without effect and left a misleading record.',
  '2.8': 'Adds the console protocol `mks` for hypervisors that provide it.',
  '2.9': 'Shows whether a server is locked. Previously, a client learned it only from a rejected action.',
  '2.10':
    'Allows administrators to list, show, create and delete key pairs of other users by user ID. Previously, provisioning tools had to authenticate as the user.',
  '2.11':
    'Allows monitors to mark the host of a service as down (`force-down`), so that its servers can be evacuated without waiting for missing heartbeats.',
  '2.12': 'Shows the network of a virtual interface.',
  '2.13': 'Shows the project and the user of a server group.',
  '2.14':
    'Detects shared storage during evacuations: `onSharedStorage` is removed from the request. The password is removed from the response, because it was not always the password of the guest.',
  '2.15':
    'Adds the server group policies `soft-affinity` and `soft-anti-affinity`, which the scheduler follows as far as possible without failing.',
  '2.16':
    'Shows the status of the host of a server to callers allowed by the policy, so that they can distinguish host failures from server failures.',
  '2.17': 'Adds an action that triggers a crash dump in an unresponsive guest.',
  '2.18': 'Makes the project ID in the path optional. The token already identifies the project.',
  '2.19':
    'Adds the description of a server. Previously, users put descriptions into the name, which becomes part of the hostname.',
  '2.20': 'Allows volumes to be attached to and detached from shelved servers.',
  '2.21': 'Shows the actions of deleted servers, for example which user deleted a server.',
  '2.22':
    'Adds an action that forces a live migration to complete. Without it, a guest that writes faster than its memory is copied migrates forever.',
  '2.23':
    'Lists and shows the live migrations in progress of a server with their progress. The list of all migrations shows the type of each migration.',
  '2.24': 'Adds an operation that aborts a live migration.',
  '2.25':
    'Detects during a live migration whether disks must be copied, with `block_migration: auto`. Removes `disk_over_commit`, which is a matter of configuration.',
  '2.26': 'Adds tags to servers and filters by tags. Metadata is for the guest and cannot be filtered.',
  '2.27': 'Adds the version header that all services share. The old header remains supported.',
  '2.28': 'Returns the CPU information of a hypervisor as an object instead of a JSON string.',
  '2.29':
    'Validates the destination host of an evacuation with the scheduler, unless `force` is set. Previously, the host was used even without sufficient capacity.',
  '2.30': 'Validates the destination host of a live migration with the scheduler, unless `force` is set.',
  '2.31': 'Allows console proxies of all types to look up a token. Previously, only RDP consoles were supported.',
  '2.32':
    'Adds device tags for disks and interfaces in the create request. The guest finds devices by tag in its metadata. Tags of interfaces are supported until 2.36; tags of disks only at 2.32, because of an error that 2.42 fixes.',
  '2.33': 'Adds pagination to the list of hypervisors.',
  '2.34':
    'Accepts a live migration before its hosts are checked, because the checks exceeded client timeouts. The result is reported in the actions of the server.',
  '2.35': 'Adds pagination to the list of key pairs.',
  '2.36':
    'Removes the proxies for the image, networking, volume and bare metal services, and the quotas and limits that those services enforce.',
  '2.37':
    'Requires `networks` in the create request. `auto` creates a network for projects without one; `none` creates a server without a network. Previously, the result of omitting it depended on the networks of the project.',
  '2.38': 'Returns 400 for an unknown server status in a filter. Previously, the list was empty.',
  '2.39':
    'Removes the proxy for image metadata and its limit. Creating an image of a server no longer checks the metadata quota of this API; the image service has its own limits.',
  '2.40': 'Adds pagination to usage reports, which were too large for projects with many servers.',
  '2.41': 'Shows the UUID of an aggregate, as used by the placement service.',
  '2.42': 'Restores device tags of disks and interfaces in the create request.',
  '2.43':
    'Removes the `os-hosts` resource. The services and hypervisors resources provide the same data. Some GET requests of `os-hosts` rebooted hosts.',
  '2.44':
    'Removes the actions for fixed and floating IP addresses, and virtual interfaces. Ports and the networking service replace them.',
  '2.45':
    'Returns the image ID of `createImage` and `createBackup` in the response body. Previously, a header contained a URL that was often unreachable.',
  '2.46':
    'Accepts a request ID from the client and logs it with the request ID of each service, so that a call can be traced across services.',
  '2.47':
    'Embeds the flavor in the server, with the values at the time of the create or resize request. Previously, a link could refer to a deleted flavor.',
  '2.48': 'Defines the same diagnostics fields and units for all drivers. Previously, each driver had its own fields.',
  '2.49': 'Adds device tags for volumes and interfaces that are attached to existing servers.',
  '2.50':
    'Shows server groups and their members in quota classes, where they were missing, and removes the quotas of other services.',
  '2.51':
    'Adds the external event `volume-extended`, so that guests detect the new size of a volume. Shows the events of actions to all callers, without details of hosts.',
  '2.52': 'Allows tags in the create request. Previously, tags could be added only to existing servers.',
};
