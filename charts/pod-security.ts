/** What PodSecurity `restricted` asks of a pod: https://kubernetes.io/docs/concepts/security/pod-security-standards/ */
import type { k8s } from 'cdk8s-plus-28';

/** Of the pod. `user` is a number, because the kubelet cannot tell whether a name is root. */
export const podSecurity = (user: number, ports: readonly { readonly port: number }[]): k8s.PodSecurityContext => ({
  runAsNonRoot: true,
  runAsUser: user,
  seccompProfile: { type: 'RuntimeDefault' },
  // A process without capabilities may not bind a port below 1024 unless this says so; some runtimes set it by themselves, others do
  // not. It is one of the safe sysctls, holds for this pod alone, and is left out where it is not needed.
  ...(ports.some(({ port }) => port < 1024) && {
    sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
  }),
});

/** Of each container. */
export const containerSecurity: k8s.SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  privileged: false,
  readOnlyRootFilesystem: true,
};

/** Labels of a namespace whose pods must be so. */
export const restrictedNamespaceLabels: Readonly<Record<string, string>> = {
  'pod-security.kubernetes.io/enforce': 'restricted',
  'pod-security.kubernetes.io/audit': 'restricted',
  'pod-security.kubernetes.io/warn': 'restricted',
};
