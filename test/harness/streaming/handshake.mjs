// Answers to upgrades, as the streaming server of Kubernetes gives them.
import { STATUS_CODES } from 'node:http';
import { listedValues } from './built.mjs';

/** Answers without an upgrade. */
export function refuse(socket, code, text = '', headers = []) {
  const lines = [`HTTP/1.1 ${code} ${STATUS_CODES[code]}`, ...headers, 'Content-Type: text/plain; charset=utf-8'];
  socket.end([...lines, `Content-Length: ${Buffer.byteLength(text)}`, 'Connection: close', '', text].join('\r\n'));
  return undefined;
}

/** Answers an upgrade to SPDY, and returns the protocol on top of it; undefined if the request was refused. */
export function acceptSpdy({ request, socket, head }, supported) {
  const { headers } = request;
  const requested = listedValues(headers['x-stream-protocol-version']);
  if (requested.length === 0) {
    return refuse(socket, 400, 'unable to upgrade: header X-Stream-Protocol-Version does not exist in request');
  }
  const protocol = requested.find((one) => supported.includes(one));
  if (protocol === undefined) {
    const accepted = supported.map((one) => `X-Accepted-Stream-Protocol-Versions: ${one}`);
    return refuse(
      socket,
      403,
      `unable to upgrade: unable to negotiate protocol: client supports ${requested}`,
      accepted,
    );
  }
  if (!/upgrade/i.test(headers.connection ?? '') || !/spdy\/3\.1/i.test(headers.upgrade ?? '')) {
    return refuse(socket, 400, 'unable to upgrade: missing upgrade headers in request');
  }
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: SPDY/3.1'];
  socket.write([...lines, `X-Stream-Protocol-Version: ${protocol}`, '', ''].join('\r\n'));
  if (head.length > 0) socket.unshift(head);
  return protocol;
}
