/** What each microversion from 2.1 to 2.52 changed, and why. */
export const historyTo252: Readonly<Record<string, string>> = {
  '2.1':
    'Introduces microversions. This version matches the API before microversions, except that it validates requests strictly: unknown fields in a request body are rejected.',
  '2.2':
    'Adds the type of a key pair: `ssh`, or `x509` for guests that authenticate users by certificate. Requests to create a key pair return 201 and requests to delete one return 204, because both operations are complete when the response is sent.',
  '2.3':
    'Shows to administrators the server attributes that were previously available only in the database: hostname, kernel and RAM disk image, launch index, reservation ID, root device name and user data. Shows `delete_on_termination` for attached volumes.',
  '2.4': 'Shows whether a fixed IP address is reserved.',
  '2.5': 'Allows all callers to filter servers by IPv6 address. Previously, only administrators could do so.',
  '2.6':
    'Adds a single operation that creates remote consoles of all types. Removes the separate actions for VNC, SPICE, RDP and serial consoles.',
  '2.7':
    'Returns 409 for requests to grant a project access to a public flavor. Previously, such a request was accepted and stored, although every project can use a public flavor.',
  '2.8': 'Adds the console protocol `mks` for hypervisors that support it.',
  '2.9': 'Shows whether a server is locked. Previously, clients noticed a lock only when an action was rejected.',
  '2.10':
    'Allows administrators to list, show, create and delete key pairs of other users by user ID. Previously, provisioning tools had to authenticate as the user.',
  '2.11':
    'Allows monitoring systems to mark the host of a service as down (`force-down`), so that its servers can be evacuated before heartbeats time out.',
  '2.12': 'Shows the network to which a virtual interface belongs.',
  '2.13': 'Shows the project that owns a server group, and the user who created it.',
  '2.14':
    'Detects shared storage during evacuations, and therefore removes `onSharedStorage` from the request. Removes the password from the response, because the guest did not always have this password.',
  '2.15':
    'Adds the server group policies `soft-affinity` and `soft-anti-affinity`. The scheduler follows these soft policies if possible, and otherwise ignores them.',
  '2.16':
    "Shows the status of a server's host to callers that the policy allows to read it, so that they can distinguish host failures from server failures.",
  '2.17': 'Adds an action that makes an unresponsive guest write a crash dump.',
  '2.18': 'Makes the project ID in the path optional, because the token already identifies the project.',
  '2.19':
    'Adds a description to servers. Previously, users put descriptions into the name, from which the hostname is derived.',
  '2.20': 'Allows clients to attach volumes to shelved servers, and to detach them.',
  '2.21': 'Shows the actions on deleted servers, so that clients can find out which user deleted a server.',
  '2.22':
    'Adds an action that forces a live migration to complete. Without this action, a live migration never completes if the guest writes to memory faster than memory is copied.',
  '2.23':
    "Adds operations that list and show a server's live migrations in progress, including how much data has been copied. Adds the type of each migration to the list of all migrations.",
  '2.24': 'Adds an operation to abort a live migration.',
  '2.25':
    'Adds the value `auto` for `block_migration`, with which a live migration detects whether disks must be copied. Removes `disk_over_commit`, which depends on the configuration of the cloud.',
  '2.26':
    'Adds server tags, and filters by tag in server lists. Unlike tags, metadata is intended for the guest and cannot be used in filters.',
  '2.27': 'Adds support for the version header that all services share. The old header remains supported.',
  '2.28': "Returns a hypervisor's CPU information as an object instead of a JSON string.",
  '2.29':
    'Checks the requested destination host of an evacuation with the scheduler, unless `force` is set. Previously, the host was used even if its capacity was insufficient.',
  '2.30': 'Checks the requested destination host of a live migration with the scheduler, unless `force` is set.',
  '2.31': 'Allows console proxies of all types to look up a token. Previously, only RDP consoles were supported.',
  '2.32':
    'Allows device tags for disks and interfaces in requests that create servers. The guest can read the tags in its metadata to identify devices. Because of a defect, interface tags are supported only until 2.36 and disk tags only at 2.32; 2.42 restores both.',
  '2.33': 'Adds pagination to the list of hypervisors.',
  '2.34':
    'Sends the response to a live migration request before checking the hosts, because the checks took longer than client timeouts allow. The result of the checks is in the list of instance actions (`os-instance-actions`).',
  '2.35': 'Adds pagination to the list of key pairs.',
  '2.36':
    'Removes the operations that forward requests to the image, networking, volume and bare metal services, and the quotas and limits that those services enforce.',
  '2.37':
    'Requires the field `networks` in requests to create servers. With `auto`, a network is created if the project does not have one; with `none`, the server does not have a network. Previously, the field could be omitted, and the result depended on the networks of the project.',
  '2.38': 'Returns 400 if a filter contains an unknown server status. Previously, the list was empty.',
  '2.39':
    "Removes the operations that forward image metadata requests to the image service, and their limit. Requests to create an image of a server no longer check the compute API's metadata quota; the image service has its own limits.",
  '2.40': 'Adds pagination to usage reports, which had become too large for projects with many servers.',
  '2.41': 'Shows the UUID of an aggregate, which the placement service uses.',
  '2.42':
    'Allows device tags again in requests that create servers. Because of a defect, requests with device tags for disks had been rejected since 2.33, and those for interfaces since 2.37.',
  '2.43':
    'Removes the `os-hosts` resource, because the services and hypervisors resources provide the same data, and some of its GET requests changed the power state of hosts.',
  '2.44':
    'Removes the actions for fixed and floating IP addresses, and the virtual interfaces resource. Port interfaces and the networking service replace the actions and the resource.',
  '2.45':
    'Returns the image ID in the response body of `createImage` and `createBackup`. Previously, a header contained the image URL, which clients could often not reach.',
  '2.46':
    'Accepts a request ID from the client. Services log the ID from the client together with their own request ID, so that a request can be traced across services.',
  '2.47':
    'Embeds the flavor in the representation of a server, with the values at the time of the create or resize request. Previously, the representation contained a link, which could refer to a deleted flavor.',
  '2.48':
    'Defines the same fields and units for the diagnostics of all drivers. In earlier versions, the fields depended on the driver.',
  '2.49': 'Adds device tags to requests that attach volumes and interfaces to existing servers.',
  '2.50':
    'Adds the quotas for server groups and their members to quota classes, where they were missing, and removes quotas that other services enforce.',
  '2.51':
    'Adds the external event `volume-extended`, so that guests detect the new size of a volume. Shows the events of server actions, without host details, to all callers.',
  '2.52': 'Allows tags in requests to create servers. Previously, tags could be added only to existing servers.',
};
