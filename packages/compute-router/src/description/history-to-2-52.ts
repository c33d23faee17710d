/** What versions 2.1 to 2.52 brought. */
export const historyTo252: Readonly<Record<string, string>> = {
  '2.1':
    'The API as it was before it had microversions, with one difference: what a request says is checked strictly, and unknown fields of a body are refused. Everything older clients rely on is here.',
  '2.2':
    'Key pairs have a type: `ssh`, or `x509` for guests that log in by certificate. Creating one answers 201 and deleting one 204, as nothing is left to be done afterwards.',
  '2.3':
    'Servers show administrators what was kept in the database only: host name, kernel and RAM disk images, place in the order, order id, root device and user data. Volumes of a server say whether they go with it. Tools for billing and repair no longer need the database.',
  '2.4': 'A fixed address says whether it is kept free.',
  '2.5':
    'Everybody can look for servers by IPv6 address. Before, only administrators could, while IPv4 was open to all.',
  '2.6':
    'One operation opens consoles of every kind. The actions for VNC, SPICE, RDP and serial consoles, all alike but for their names, are gone.',
  '2.7':
    'Giving a project access to a public flavor is a 409. It was accepted without effect, and the record of it misled.',
  '2.8': 'Remote consoles know the protocol `mks` of one more hypervisor.',
  '2.9': 'Servers show whether they are locked, which one could find out only by trying.',
  '2.10':
    'Administrators can list, show, create and delete key pairs of other users, by their id. Before, tools that set up accounts had to act as the user.',
  '2.11':
    'Monitors can state that a host is down, and services show it. The API would notice after a minute; told at once, servers can be evacuated at once.',
  '2.12': 'Virtual interfaces show the network they are on.',
  '2.13': 'Server groups show the project and the user they belong to, so that administrators can tell them apart.',
  '2.14':
    'Evacuations find out themselves whether storage is shared: the field for it is gone from the body, and the password from the answer, as it was not always the one in the guest.',
  '2.15':
    'Server groups can be `soft-affinity` and `soft-anti-affinity`: the scheduler does what it can, and does not fail where it cannot.',
  '2.16':
    'Servers show the state of their host to those whom the policy allows, so that operators of a service see whether a failure is theirs.',
  '2.17': 'A crash dump can be triggered in a guest that hangs, to find out why.',
  '2.18': 'The project id may be left out of the path. The token says the same, and links become the same for all.',
  '2.19': 'Servers have a description. Names had been used for it, and are part of host names.',
  '2.20':
    'Volumes can be attached to and detached from shelved servers, which have no host that would have to take part.',
  '2.21': 'Actions on deleted servers can be seen: who deleted it is what one asks of a server that is gone.',
  '2.22':
    'A live migration can be forced to complete that never would, since the guest writes faster than its memory is copied.',
  '2.23':
    'Live migrations under way are shown below their server with what is copied and what is left. The list of all migrations shows the type of each.',
  '2.24': 'A live migration can be aborted; the server stays where it is.',
  '2.25':
    'Live migrations find out themselves whether disks must be copied, with `auto`. The flag for promising more disk than there is is gone, as it belongs to the configuration.',
  '2.26': 'Servers have tags, short labels to find them by: metadata is for the guest, and cannot be searched for.',
  '2.27': 'Versions can be asked for in the header that all services share. The older header works on.',
  '2.28':
    'Processor data of hypervisors is an object. It was a text with JSON in it, which every client had to read twice.',
  '2.29':
    'A host named for an evacuation is checked by the scheduler, unless `force` says not to. Before, it was taken unseen, even when it had no room.',
  '2.30': 'A host named for a live migration is checked by the scheduler, unless `force` says not to.',
  '2.31': 'Console proxies of every kind can ask what a token leads to. Before, only those for RDP could.',
  '2.32':
    'Disks and interfaces can be given tags when a server is created, by which the guest finds them in its metadata: device names and order say nothing certain. Tags of interfaces work up to 2.36, those of disks at this version only, owing to a mistake that 2.42 mends.',
  '2.33': 'The list of hypervisors comes in pages, since large clouds have thousands.',
  '2.34':
    'A live migration is accepted before hosts are checked, since the checks could take longer than a client waits. What they find is told by the actions of the server.',
  '2.35': 'The list of key pairs comes in pages, as an administrator may look at those of users who have many.',
  '2.36':
    'What the API did in the name of the image, networking, volume and bare metal services is gone: ask those services. So are the quotas and limits that they count, and the network ones of `limits`.',
  '2.37':
    'A new server must say which networks it wants. `auto` has one set up for projects without any, `none` means none; leaving it out had meant one or the other depending on what there was.',
  '2.38':
    'A list of servers by a status that does not exist is a 400, where it was an empty list that hid a typing error.',
  '2.39':
    'The proxy for metadata of images is gone, and the limit on it with it: the image service has limits of its own, and creating images of servers no longer checks a second one.',
  '2.40':
    'Reports of use come in pages of servers. Reports on busy projects had become too large to be answered in time.',
  '2.41': 'Aggregates show a UUID, by which the placement service knows them.',
  '2.42': 'Tags of disks and interfaces work when a server is created, as 2.32 meant them to.',
  '2.43':
    'The `os-hosts` resource is gone. Services and hypervisors tell the same, and some of its reads rebooted machines.',
  '2.44':
    'Actions that add and remove fixed and floating addresses are gone, with virtual interfaces: ports and the networking service do it better.',
  '2.45':
    'Making an image or a backup of a server tells its id in the body. The address in a header, which was used before, often led nowhere.',
  '2.46':
    'A client can send the id of its request, which is logged with the own one of each service, so that one call can be followed through all.',
  '2.47':
    'Servers show their flavor as it was when they got it: sizes, name and specs. A link to a flavor that has been deleted since told nothing.',
  '2.48':
    'Diagnostics have the same fields for all hypervisors, in fixed units. Each driver had names of its own, which no program could rely on.',
  '2.49': 'Volumes and interfaces that are attached later can have tags too.',
  '2.50':
    'Quota classes show server groups and their members, which had been left out by mistake, and no longer what other services count.',
  '2.51':
    'The volume service can tell that a volume has grown, so that the guest sees it at once. Owners see the events of actions, without what tells of hosts.',
  '2.52': 'Tags can be given when a server is created. Before, one had to wait for the server first.',
};
