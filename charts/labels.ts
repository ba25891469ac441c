/** The recommended labels: https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/ */

/** What an object belongs to. */
export interface Application {
  /** What it is: for children the kind in lower case. */
  readonly application: string;
  /** Which one of them: for children the resource's name. */
  readonly instance: string;
}

/** Value of the managed-by label on every child; the operator watches children by it. */
export const operatorName = 'reprise';

export const managedByLabel = 'app.kubernetes.io/managed-by';

/**
 * What tells the pods of one application from all others of the namespace. A Deployment's selector can never be changed, so neither
 * can this; and it names kind and resource, because two kinds may have resources of one name.
 */
export const selectorLabelsOf = ({ application, instance }: Application): Record<string, string> => ({
  'app.kubernetes.io/name': application,
  'app.kubernetes.io/instance': instance,
});

/** The selector's labels and who manages the object. */
export const labelsOf = (of: Application, managedBy: string): Record<string, string> => ({
  ...selectorLabelsOf(of),
  [managedByLabel]: managedBy,
});

/** The selector as text, as the scale subresource and `kubectl -l` want it. */
export const selectorTextOf = (of: Application): string =>
  Object.entries(selectorLabelsOf(of))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
