/** The IP address of each network's DHCP and metadata services. */
export const SERVICE_ADDRESS = '169.254.169.254';
