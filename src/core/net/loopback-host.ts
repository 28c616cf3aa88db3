/** This machine: nobody listens on the way. */
export const isLoopback = (host: string): boolean => /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(host);

/** Whether a secret may go to an address: nobody can read along. */
export const isPrivateWay = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
