/** The address of the services of each network. */
export const SERVICE_ADDRESS = '169.254.169.254';
