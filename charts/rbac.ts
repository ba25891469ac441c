/** Who the operator is and what it may do. */
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import type { PolicyRule } from './resource.ts';

/** In place of a list of namespaces: all of them, also later ones. */
export const allNamespaces = '*';

export interface OperatorRbacProps {
  /** Name of the ServiceAccount and of what is granted to it. */
  readonly name: string;
  /** Namespace of the ServiceAccount. */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Namespaces that the operator serves, or only `*`. */
  readonly watchNamespaces: readonly string[];
  /** What it needs in each of them. */
  readonly rules: readonly PolicyRule[];
}

/** The account with a Role in each watched namespace, and nothing outside; with a ClusterRole only when it watches all. */
export class OperatorRbac extends Construct {
  constructor(scope: Construct, id: string, props: OperatorRbacProps) {
    super(scope, id);
    const { name, namespace, labels } = props;
    // The token is mounted where a pod asks for it, not into everything that names the account.
    new k8s.KubeServiceAccount(this, 'account', {
      metadata: { name, namespace, labels },
      automountServiceAccountToken: false,
    });
    const rules = distinct(props.rules).map(mutable);
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    const roleRef = (kind: string): k8s.RoleRef => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
    if (props.watchNamespaces.includes(allNamespaces)) {
      const metadata = { name, labels };
      new k8s.KubeClusterRole(this, 'role', { metadata, rules });
      new k8s.KubeClusterRoleBinding(this, 'binding', { metadata, subjects, roleRef: roleRef('ClusterRole') });
      return;
    }
    for (const watched of props.watchNamespaces) {
      const metadata = { name, namespace: watched, labels };
      new k8s.KubeRole(this, `role-${watched}`, { metadata, rules });
      new k8s.KubeRoleBinding(this, `binding-${watched}`, { metadata, subjects, roleRef: roleRef('Role') });
    }
  }
}

/** Kinds that own the same types need the same rules. */
const distinct = (rules: readonly PolicyRule[]): readonly PolicyRule[] => [
  ...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values(),
];

const mutable = ({ apiGroups, resources, verbs, resourceNames }: PolicyRule): k8s.PolicyRule => ({
  apiGroups: [...apiGroups],
  resources: [...resources],
  verbs: [...verbs],
  ...(resourceNames && { resourceNames: [...resourceNames] }),
});
