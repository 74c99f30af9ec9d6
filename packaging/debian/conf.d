Files *.cnf in this folder hold further options; they are read in the order of their names, after /etc/clearway/clearway.cnf.
