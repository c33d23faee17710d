import type { Resource } from '../../reference/resource.js';

export const serverPasswordDocs: Resource = {
  tag: 'server-passwords',
  about: 'Passwords that guests generated and posted, encrypted with the public key of the server.',
  operations: {
    'GET /servers/{server_id}/os-server-password': [
      'showServerPassword',
      'Shows the encrypted password that the guest posted. The private key of the key pair decrypts it.',
    ],
    'DELETE /servers/{server_id}/os-server-password': [
      'deleteServerPassword',
      'Deletes the encrypted password from the server record. The password in the guest is unchanged.',
    ],
  },
  fields: { password: 'The encrypted password. Empty if the guest posted none.' },
};

export const serverConsoleDocs: Resource = {
  tag: 'consoles',
  about: 'Graphical and serial consoles of servers, and the connection data that console proxies need.',
  when: { 409: 'The server has no host yet.', 501: 'The driver does not support consoles of this type.' },
  operations: {
    'POST /servers/{server_id}/remote-consoles': [
      'createRemoteConsole',
      'Creates a remote console and returns its URL. The URL contains a token that expires.',
    ],
    'GET /os-console-auth-tokens/{id}': [
      'showConsoleAuthToken',
      'Shows the connection data of a console for its token. For console proxies. Until 2.30, RDP consoles only.',
      {
        400: 'The token is missing, or is not a console token.',
        401: 'Until 2.30: the token does not belong to an RDP console.',
      },
    ],
  },
  parameters: { id: 'Token of the console, from its URL.' },
  fields: {
    remote_console: 'The remote console.',
    protocol: 'Protocol: `vnc`, `spice`, `serial`, `rdp` (no longer available), or since 2.8 `mks`.',
    type: 'Console type: `novnc`, `xvpvnc`, `spice-html5`, `serial`, since 2.8 `webmks`, since 2.99 `spice-direct`.',
    url: 'URL of the console. Contains a token that expires.',
    console: 'Connection data of the console.',
    host: 'IP address of the host.',
    port: 'TCP port on the host.',
    internal_access_path: 'Data that the proxy sends to the host first, or null.',
    tls_port: 'TCP port on the host for TLS connections, or null.',
  },
};

export const serverDiagnosticsDocs: Resource = {
  tag: 'diagnostics',
  about: 'Diagnostics and NUMA topology of servers.',
  when: {
    409: 'The state of the server does not allow it.',
    501: 'The driver of the host does not support the operation.',
  },
  operations: {
    'GET /servers/{server_id}/diagnostics': [
      'showServerDiagnostics',
      'Shows usage data of a running server. Until 2.47, the fields depend on the driver; since 2.48, they are the same for all drivers.',
    ],
    'GET /servers/{server_id}/topology': [
      'showServerTopology',
      'Shows the NUMA topology of a server. Only administrators see the nodes and CPUs of the host.',
    ],
  },
  fields: {
    config_drive: 'Whether the server has a config drive.',
    cpu_details: 'Details of each virtual CPU.',
    'cpu_details.id': 'Number of the virtual CPU.',
    'cpu_details.time': 'CPU time used, in nanoseconds.',
    'cpu_details.utilisation': 'CPU utilization, in percent.',
    disk_details: 'Details of each disk.',
    errors_count: 'Number of disk errors.',
    read_bytes: 'Bytes read.',
    read_requests: 'Number of read requests.',
    write_bytes: 'Bytes written.',
    write_requests: 'Number of write requests.',
    driver: 'Driver of the host.',
    hypervisor: 'Type of the hypervisor, or null.',
    hypervisor_os: 'Operating system of the host, or null.',
    memory_details: 'Details of the memory.',
    'memory_details.maximum': 'Maximum memory, in MiB.',
    'memory_details.used': 'Memory in use, in MiB.',
    nic_details: 'Details of each network interface.',
    mac_address: 'MAC address.',
    rx_drop: 'Number of received packets that were dropped.',
    rx_errors: 'Number of receive errors.',
    rx_octets: 'Bytes received.',
    rx_packets: 'Number of packets received.',
    rx_rate: 'Receive rate, in bytes per second.',
    tx_drop: 'Number of packets that were dropped on transmission.',
    tx_errors: 'Number of transmit errors.',
    tx_octets: 'Bytes sent.',
    tx_packets: 'Number of packets sent.',
    tx_rate: 'Transmit rate, in bytes per second.',
    num_cpus: 'Number of virtual CPUs.',
    num_disks: 'Number of disks.',
    num_nics: 'Number of network interfaces.',
    state: 'State of the instance: `pending`, `running`, `paused`, `shutdown`, `crashed` or `suspended`.',
    uptime: 'Uptime of the instance, in seconds.',
    nodes: 'NUMA nodes of the server.',
    'nodes.memory_mb': 'Memory of the node, in MiB.',
    'nodes.siblings': 'Virtual CPUs that are threads of the same core, by core.',
    'nodes.vcpu_set': 'Virtual CPUs of the node.',
    'nodes.host_node': 'NUMA node of the host. Administrators only.',
    'nodes.cpu_pinning': 'CPU of the host by virtual CPU. Administrators only.',
    pagesize_kb: 'Size of memory pages, in KiB, or null.',
  },
};

export const serverSecurityGroupDocs: Resource = {
  tag: 'server-security-groups',
  about: 'Security groups of the ports of a server.',
  operations: {
    'GET /servers/{server_id}/os-security-groups': [
      'listServerSecurityGroups',
      'Lists the security groups of a server with their rules.',
    ],
  },
  fields: {
    security_groups: 'The list of security groups.',
    id: 'UUID of the security group.',
    name: 'Name of the security group.',
    description: 'Description of the security group.',
    rules: 'Ingress rules.',
    'rules.id': 'UUID of the rule.',
    parent_group_id: 'UUID of the security group that contains the rule.',
    ip_protocol: 'Protocol: `tcp`, `udp` or `icmp`. Null means all protocols.',
    from_port: 'First port of the range, or ICMP type. Null means all.',
    to_port: 'Last port of the range, or ICMP code. Null means all.',
    group: 'Source security group. Empty if the rule has an address range.',
    'group.name': 'Name of the source security group.',
    'group.tenant_id': 'ID of the project that owns the source security group.',
    ip_range: 'Source address range. Empty if the rule has a source group.',
    'ip_range.cidr': 'Addresses in CIDR notation, such as `192.0.2.0/24`.',
  },
};
