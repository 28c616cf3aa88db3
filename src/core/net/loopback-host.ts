/** True for host names and addresses of this machine. */
export const isLoopback = (host: string): boolean => /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(host);

/** Whether a secret may be sent to an address: over https, or to this machine. */
export const isPrivateWay = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
