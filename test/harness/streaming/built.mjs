// The built sources that the servers of this directory use.
const load = (path) => import(new URL(`../../../dist/src/${path}`, import.meta.url).href);

export const { encodeStatus, internalError, success } = await load('remote-streams/command/command-status.js');
export const { channel, channelCount, hasStatus, hasTerminalSizes } = await load('remote-streams/command/protocols.js');
export const { SpdyConnection } = await load('remote-streams/spdy/spdy-connection.js');
export const { isWebSocketRequest, listedValues, requestedSubprotocols } = await load(
  'remote-streams/upgrade-request.js',
);
export const { acceptWebSocket } = await load('remote-streams/websocket/accept-websocket.js');
export const { Channels } = await load('remote-streams/websocket/channels.js');
export const { systemClock } = await load('std/clock.js');
