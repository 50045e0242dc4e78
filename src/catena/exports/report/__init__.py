"""Report: everything about a mechanism in one document.

    report(subject, "arm.html")        one page that needs nothing else; "arm.pdf": the same,
                                       printed by a browser

description, tables, numbers    what a mechanism is, as data, as rows, as words; `catena info` shows
                                the same
subject                         the mechanism with everything that is computed for a report, each
                                once
chapters                        the family of chapters: what each says, in blocks (`blocks`)
pictures                        the mechanism in solid 3-D
page                            blocks as HTML              printed    HTML as PDF
document                        all chapters in order, into a file
"""
