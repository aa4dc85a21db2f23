/** Gives the file to the browser, which saves it where its user has files saved. */
export const saveFile = (content: Blob, fileName: string): void => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = fileName
  link.click()
  URL.revokeObjectURL(link.href)
}
