import { stringifyJson } from '../codec/json.js';
import type { Kubeconfig, PluginSettings } from './kubeconfig.js';

interface PluginInput {
  readonly kubeconfig: Kubeconfig;
  readonly plugin: PluginSettings;
  /** PEM, from the kubeconfig or its file. */
  readonly certificateAuthority: Buffer | undefined;
  /** True if the plug-in may use standard input. */
  readonly isInteractive: boolean;
}

/** Returns the ExecCredential that a plug-in gets in its environment. */
export function pluginInput({ kubeconfig, plugin, certificateAuthority, isInteractive }: PluginInput): string {
  const { server, tlsServerName, skipsTlsVerify, pluginConfig } = kubeconfig.cluster;
  const cluster = {
    server: server.href.replace(/\/$/, ''),
    ...(tlsServerName !== undefined && { 'tls-server-name': tlsServerName }),
    ...(skipsTlsVerify && { 'insecure-skip-tls-verify': true }),
    ...(certificateAuthority && { 'certificate-authority-data': certificateAuthority.toString('base64') }),
    config: pluginConfig ?? null,
  };
  return stringifyJson({
    kind: 'ExecCredential',
    apiVersion: plugin.apiVersion,
    spec: { ...(plugin.providesClusterInfo && { cluster }), interactive: isInteractive },
  });
}
