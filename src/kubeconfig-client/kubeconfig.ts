import type { JsonValue } from '../machinery/kube-object.js';

/** The settings of one context of a kubeconfig, checked. Paths of files are absolute. */
export interface Kubeconfig {
  /** The file, for messages. */
  readonly location: string;
  readonly context: string;
  /** Namespace of the context; empty if it has none. */
  readonly namespace: string;
  readonly cluster: Cluster;
  readonly user: User;
}

export interface Cluster {
  readonly server: URL;
  readonly certificateAuthority: Content | undefined;
  readonly tlsServerName: string | undefined;
  readonly skipsTlsVerify: boolean;
  /** The extension `client.authentication.<domain>/exec`, which plug-ins get with provideClusterInfo. */
  readonly pluginConfig: JsonValue | undefined;
}

/** Bytes in the kubeconfig itself, or the path of a file. */
export type Content = { readonly data: Buffer } | { readonly file: string };

export interface User {
  readonly clientCertificate: { readonly certificate: Content; readonly key: Content } | undefined;
  readonly token: string | undefined;
  /** Absolute path. Its content is preferred to `token`. */
  readonly tokenFile: string | undefined;
  readonly plugin: PluginSettings | undefined;
  /** Impersonate-… headers. */
  readonly impersonation: Readonly<Record<string, string | readonly string[]>>;
}

/** The field `exec` of a user. */
export interface PluginSettings {
  /** An absolute path, or a name without slashes that is found by PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** `client.authentication.k8s.io/v1` */
  readonly apiVersion: string;
  readonly installHint: string | undefined;
  readonly providesClusterInfo: boolean;
  readonly interactiveMode: InteractiveMode;
}

export const interactiveModes = ['Never', 'IfAvailable', 'Always'] as const;
export type InteractiveMode = (typeof interactiveModes)[number];
