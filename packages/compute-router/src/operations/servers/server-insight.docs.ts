import type { Resource } from '../../description/resource.js';

export const serverPasswordDocs: Resource = {
  tag: 'server-passwords',
  about: 'Passwords that guests have made up and posted, encrypted with the key of their owner.',
  operations: {
    'GET /servers/{server_id}/os-server-password': [
      'showServerPassword',
      'The password that the guest has posted, encrypted with the public key of the server; only who has the private key can read it.',
    ],
    'DELETE /servers/{server_id}/os-server-password': [
      'deleteServerPassword',
      'Forgets the password that the guest has posted. In the guest it stays.',
    ],
  },
  fields: { password: 'The encrypted password; empty without one' },
};

export const serverConsoleDocs: Resource = {
  tag: 'consoles',
  about: 'Screens and serial lines of servers, and what console proxies ask about them.',
  when: { 409: 'The server is not on a host yet', 501: 'The driver has no console of this kind' },
  operations: {
    'POST /servers/{server_id}/remote-consoles': [
      'createRemoteConsole',
      'Opens a console and tells where. One operation for all kinds since 2.6, where each had an action before; 2.8 adds MKS, 2.99 direct SPICE.',
    ],
    'GET /os-console-auth-tokens/{id}': [
      'showConsoleAuthToken',
      'What a console proxy connects to for a token: for RDP only up to 2.30, for all kinds from 2.31 on.',
      { 400: 'The token is missing or of another kind', 401: 'Up to 2.30: the token is not that of an RDP console' },
    ],
  },
  parameters: { id: 'Token from the address of a console' },
  fields: {
    remote_console: 'The console',
    protocol: '`vnc`, `spice`, `serial`, `rdp` (of which none is left), or from 2.8 on `mks`',
    type: 'Kind within the protocol: `novnc`, `xvpvnc`, `spice-html5`, `serial`, from 2.8 on `webmks`, from 2.99 on `spice-direct`',
    url: 'Address to open it at, with a token that holds for a short time',
    console: 'Where the proxy connects to',
    host: 'Address of the host',
    port: 'Port on the host',
    internal_access_path: 'What the host wants to be told first, or null',
    tls_port: 'Port on the host for encrypted connections, or null. New in 2.99',
  },
};

export const serverDiagnosticsDocs: Resource = {
  tag: 'diagnostics',
  about: 'What hosts tell of running servers.',
  when: { 409: 'The server is in a state without diagnostics', 501: 'The driver of the host cannot tell' },
  operations: {
    'GET /servers/{server_id}/diagnostics': [
      'showServerDiagnostics',
      'What the host measures of a running server. Up to 2.47 each driver has keys of its own; from 2.48 on the keys are the same for all, so that programs can read them.',
    ],
    'GET /servers/{server_id}/topology': [
      'showServerTopology',
      'The NUMA nodes of a server. Where they are on the host is told to administrators only.',
    ],
  },
  fields: {
    config_drive: 'Whether metadata is on a drive of its own',
    cpu_details: 'Its processors',
    'cpu_details.id': 'Number of the processor',
    'cpu_details.time': 'Time that it has run, in nanoseconds',
    'cpu_details.utilisation': 'Per cent of its time that it is busy',
    disk_details: 'Its disks',
    errors_count: 'Errors so far',
    read_bytes: 'Bytes read',
    read_requests: 'Reads',
    write_bytes: 'Bytes written',
    write_requests: 'Writes',
    driver: 'Driver of the host',
    hypervisor: 'Hypervisor of the host, or null',
    hypervisor_os: 'Operating system of the host, or null',
    memory_details: 'Its memory',
    'memory_details.maximum': 'Memory that it may use, in MiB',
    'memory_details.used': 'Memory that it uses, in MiB',
    nic_details: 'Its interfaces',
    mac_address: 'Hardware address',
    rx_drop: 'Received packets that were dropped',
    rx_errors: 'Errors in receiving',
    rx_octets: 'Bytes received',
    rx_packets: 'Packets received',
    rx_rate: 'Rate of receiving, in bytes per second',
    tx_drop: 'Packets to send that were dropped',
    tx_errors: 'Errors in sending',
    tx_octets: 'Bytes sent',
    tx_packets: 'Packets sent',
    tx_rate: 'Rate of sending, in bytes per second',
    num_cpus: 'Number of processors',
    num_disks: 'Number of disks',
    num_nics: 'Number of interfaces',
    state: '`pending`, `running`, `paused`, `shutdown`, `crashed` or `suspended`',
    uptime: 'Time that it has run, in seconds',
    nodes: 'Its NUMA nodes',
    'nodes.memory_mb': 'Memory of the node, in MiB',
    'nodes.siblings': 'Processors that are threads of one core, by core',
    'nodes.vcpu_set': 'Virtual processors of the node',
    'nodes.host_node': 'Node of the host that it is on; for administrators',
    'nodes.cpu_pinning': 'Processor of the host by virtual processor; for administrators',
    pagesize_kb: 'Size of memory pages in KiB, or null',
  },
};

export const serverSecurityGroupDocs: Resource = {
  tag: 'server-security-groups',
  about: 'Security groups that the ports of a server are in.',
  operations: {
    'GET /servers/{server_id}/os-security-groups': [
      'listServerSecurityGroups',
      'The security groups of a server with their rules.',
    ],
  },
  fields: {
    security_groups: 'The security groups',
    id: 'Id of the security group, a UUID',
    name: 'Name of the security group',
    description: 'Text for people',
    rules: 'What traffic it allows in',
    'rules.id': 'Id of the rule, a UUID',
    parent_group_id: 'Id of the security group that the rule is in, a UUID',
    ip_protocol: '`tcp`, `udp` or `icmp`, or null for all',
    from_port: 'First port, or type of ICMP; null for all',
    to_port: 'Last port, or code of ICMP; null for all',
    group: 'Security group from whose members traffic is allowed; empty for none',
    'group.name': 'Name of that security group',
    'group.tenant_id': 'Id of the project that owns that security group',
    ip_range: 'Addresses from which traffic is allowed; empty for a rule with a group',
    'ip_range.cidr': 'Addresses in the form `192.0.2.0/24`',
  },
};
