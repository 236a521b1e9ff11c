/** Names of the protocols of exec and attach over SPDY, the newest first, as client-go offers them. */
export const commandProtocols = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
] as const;

/** The only protocol over WebSocket that is translated: clients can close stdin. */
export const closableProtocol = 'v5.channel.k8s.io';

/** Numbers of the channels of exec and attach. */
export const channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;
export const channelCount = 5;

/** The streams that a client asks for by its query parameters. */
export interface CommandStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** True if the protocol has terminal sizes; since v3. */
export const hasTerminalSizes = (protocol: string): boolean => /^v[345]\./.test(protocol);

/** True if the end of a command is told by a Status; since v4. */
export const hasStatus = (protocol: string): boolean => /^v[45]\./.test(protocol);
