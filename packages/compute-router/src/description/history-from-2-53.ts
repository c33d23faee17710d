/** What versions from 2.53 on brought. */
export const historyFrom253: Readonly<Record<string, string>> = {
  '2.53':
    'Services and hypervisors have UUIDs, since numbers repeat when a cloud has several cells. A service is changed by its id, in one operation; search and servers of hypervisors are query parameters of their list.',
  '2.54': 'A rebuild can put another key pair into the server, or none: keys get lost, and users leave.',
  '2.55': 'Flavors have a description, the one thing of a flavor that can be changed.',
  '2.56': 'A cold migration can name the host to move to, as live ones could. The scheduler checks it.',
  '2.57':
    'Files can no longer be written into the root disk of a server: it was unsafe and worked with few images. User data takes their place and can be replaced by a rebuild. The quotas for such files are gone.',
  '2.58':
    'Actions of a server come in pages, can be asked for by time, and show when something of them last happened: servers that live long have many.',
  '2.59': 'Migrations come in pages, can be asked for by time, and show a UUID to page by.',
  '2.60':
    'Volumes that several servers may share can be attached to several. Clients of older versions, which know only one, are refused.',
  '2.61': 'Flavors show their extra specs to those who may read them, which took a request for each.',
  '2.62': 'Events of actions show the host they happened on: a digest to owners, the name to administrators.',
  '2.63':
    'A server can be created and rebuilt with ids of certificates that the signature of its image must be traced back to, so that nobody can slip in another image.',
  '2.64':
    'A server group has one `policy` where it had a list of exactly one, and `rules` that make it precise: how many servers a host may have in spite of anti-affinity. The metadata field, which was always empty, is gone.',
  '2.65': 'A live migration can be aborted while it waits for its turn, not only when it moves.',
  '2.66':
    'Servers, actions and migrations can be listed by when they changed at the latest, so that a window in time has two ends.',
  '2.67': 'A volume made with a server can be of a chosen type. Before, it had to be made first.',
  '2.68':
    'Live migrations and evacuations cannot be forced past the scheduler any more: servers ended up on hosts without room for them, and the account of what is in use became wrong.',
  '2.69':
    'When a part of the cloud cannot be reached, lists show what is known of its servers and services with the status `UNKNOWN`. They were missing from lists without a word, and showing one was a 500.',
  '2.70': 'Volumes and interfaces of a server show their tags.',
  '2.71': 'A server shows the group it is in, which one could find out only by looking through all groups.',
  '2.72':
    'A server can be created with a port that needs bandwidth, and the scheduler finds a host that has it. Older versions refuse such ports, which they would not count.',
  '2.73': 'A lock can say why, servers show it, and lists can be of locked servers.',
  '2.74':
    'Administrators can name host and hypervisor of a new server in fields of their own. The scheduler checks them, unlike the host that could be hidden in the zone.',
  '2.75':
    'Many small differences are settled at once: unknown query parameters of main lists are a 400, changing and rebuilding a server answer with all fields that showing it has, the swap of a flavor without any is 0 and not an empty text, and a hypervisor without servers says so.',
  '2.76': 'The bare metal service can tell that a machine was switched on or off, so that the API does not undo it.',
  '2.77': 'A shelved server can be brought back into another zone, for when its own has failed.',
  '2.78':
    'A server shows its NUMA topology: nodes, memory, processors and, to administrators, where they are on the host.',
  '2.79':
    'Whether a volume goes with its server can be set when it is attached, and is shown. Before, only volumes from creation had the choice.',
  '2.80':
    'Migrations show the project and the user, and can be listed by them, so that an operator sees at once whose they are.',
  '2.81':
    'All hosts of an aggregate can be told to fetch images in advance, so that the first servers start as fast as all others.',
  '2.82': 'The service for accelerators can tell that a request is settled, which a new server waits for.',
  '2.83':
    'Everybody can list servers by more of what they are shown anyway: zone, key, states, times, progress and user.',
  '2.84': 'Events of actions have details for the owner: why it went wrong, without anything of the inside.',
  '2.85': 'Whether an attached volume goes with its server can be changed, by its owner.',
  '2.86':
    'Extra specs are checked when a flavor gets them: a known key must have a value that makes sense. A typing error showed only when no host could be found.',
  '2.87': 'A server whose root disk is a volume can be rescued. It was the one kind of server that could not.',
  '2.88':
    'Figures of hypervisors that were often wrong, and their sums, are gone: placement counts what is there and what is used. Uptime is a field and no operation of its own.',
  '2.89':
    'Volumes of a server show the id of the attachment in the volume service and that of the own record. The `id` that repeated that of the volume is gone from lists.',
  '2.90':
    'The host name of a guest can be chosen and changed, and everybody sees it. Before, it was made of the name of the server once and for all.',
  '2.91': 'A shelved server can be brought back onto a certain host, and be freed from the zone that it was pinned to.',
  '2.92':
    'A key pair takes the public key of its user: the API makes none any more, so that no private key travels. Names may contain `@` and `.`, as those of keys often do.',
  '2.93': 'A server whose root disk is a volume can be rebuilt with another image, which is written to the volume.',
  '2.94': 'A host name may be a whole one, with its domain.',
  '2.95':
    'An evacuated server stays stopped until its owner starts it: data that it needs may have to be looked after first. A cloud whose hosts are too old for it refuses.',
  '2.96':
    'Servers show the zone they are pinned to, which may be none while they are in one: that decides where they can move.',
  '2.97': 'Shared file systems can be attached to servers.',
  '2.98':
    'Servers show properties that their image had when it was used. The image may have changed since, or be gone.',
  '2.99':
    'SPICE consoles can be opened directly, without a page in between, and a proxy is told the port for encryption.',
  '2.100': 'Servers show the scheduler hints they were created with, which still bind them whenever they move.',
  '2.101':
    'Attaching a volume is accepted at once with a 202 and without a body: the host takes its time over choosing a device, and requests ran into timeouts.',
  '2.102':
    'Every read refuses query parameters that it does not know. Flavors lose `rxtx_factor` and `disabled`, which had no meaning any more.',
  '2.103':
    'The second address of servers, `os-volumes_boot`, is gone. It dates from the time when booting from a volume was an extension.',
  '2.104':
    'A server can be pinned to the zone that it is in, or freed from it, after it was created; another zone is a 409.',
};
