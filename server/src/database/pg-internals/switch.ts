let areUsed = true

/** Whether statements go the ways of this folder. Otherwise they go the way that `pg` documents, which does the same and takes longer. */
export const usesInternals = (): boolean => areUsed

export const useInternals = (doesUse: boolean): void => {
  areUsed = doesUse
}
